#include "passes/repair_arena.h"

#include <algorithm>

#include "passes/in_order.h"

namespace shw {
namespace {

// A 200th of all steps is near, then a 100th, …
constexpr uint32_t kMargins[] = {200, 100, 50, 25};
// Lifetimes that are placed anew at a time. Each attempt is quadratic.
constexpr size_t kMostAnew = 2048;
// In lifetimes compared, for one place in the program: so many for each two lifetimes there. Where
// that is not enough, more room in time is the better try.
constexpr int64_t kTestsOfTwo = 100, kTestsAtOnce = 2'000'000;

}  // namespace

Result<bool> repair_arena(std::span<const Life> lives, const std::vector<int64_t>& live,
                          int64_t bytes, std::vector<uint32_t> wrong, std::vector<int64_t>& offsets,
                          int64_t& max_tests, Monitor& monitor) {
  for (const uint32_t near : kMargins) {
    const auto margin = static_cast<uint32_t>(live.size()) / near;
    for (const StepWindow& window : windows_around(lives, wrong, margin)) {
      const auto is_within = [&](const Life& l) {
        return l.begin >= window.begin && l.end <= window.end;
      };
      std::vector<Life> anew, fixed;
      std::vector<uint32_t> index;
      for (uint32_t i = 0; i < lives.size(); ++i) {
        const Life& life = lives[i];
        if (is_within(life)) {
          anew.push_back(life);
          index.push_back(i);
        } else if (life.begin < window.end && life.end > window.begin) {
          fixed.push_back(life);
          fixed.back().offset = offsets[i];
        }
      }
      if (anew.size() > kMostAnew || max_tests <= 0) return false;
      std::vector<int64_t> found(anew.size());
      const auto two = static_cast<int64_t>(anew.size() * (anew.size() + fixed.size()));
      const int64_t at_most = std::min({kTestsOfTwo * two, kTestsAtOnce, max_tests});
      SHW_ASSIGN_OR_RETURN(const Placing placing, search_in_order(anew, live, bytes + 1, bytes,
                                                                  at_most, found, monitor, fixed));
      max_tests -= placing.tests;
      if (placing.bytes > bytes) continue;
      for (size_t k = 0; k < index.size(); ++k) offsets[index[k]] = found[k];
      std::erase_if(wrong, [&](uint32_t i) { return is_within(lives[i]); });
    }
    if (wrong.empty()) return true;
  }
  return false;
}

}  // namespace shw
