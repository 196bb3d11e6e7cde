#include "passes/two_ends.h"

#include <algorithm>

#include "passes/skyline.h"

namespace shw {
namespace {

struct End {
  std::vector<Life> lives;
  std::vector<uint32_t> index;  // among all lifetimes
  std::vector<double> keys;
  std::vector<int64_t> offsets;
};

}  // namespace

Result<TwoEnds> place_at_two_ends(std::span<const Life> lives, std::span<const double> keys,
                                  uint32_t least_steps, int64_t bytes, int64_t max_tests,
                                  std::vector<int64_t>& offsets, Monitor& monitor) {
  End ends[2];
  uint32_t num_steps = 0;
  for (uint32_t i = 0; i < lives.size(); ++i) {
    End& end = ends[lives[i].end - lives[i].begin < least_steps];
    end.lives.push_back(lives[i]);
    end.index.push_back(i);
    end.keys.push_back(keys[i]);
    num_steps = std::max(num_steps, lives[i].end);
  }
  offsets.assign(lives.size(), 0);
  for (End& end : ends) {
    if (end.lives.empty()) continue;
    SHW_ASSIGN_OR_RETURN(const bool placed,
                         Skyline(end.lives).place(end.keys, max_tests, end.offsets, monitor));
    if (!placed) return TwoEnds{};
  }
  std::vector<int64_t> height(num_steps, 0);  // of the long ones, by step
  const auto& [bottom, top] = ends;
  for (size_t k = 0; k < bottom.lives.size(); ++k) {
    const Life& life = bottom.lives[k];
    offsets[bottom.index[k]] = bottom.offsets[k];
    if (bottom.offsets[k] + life.bytes > bytes) return TwoEnds{};
    for (uint32_t t = life.begin; t < life.end; ++t)
      height[t] = std::max(height[t], bottom.offsets[k] + life.bytes);
  }
  TwoEnds result{.placed = true, .wrong = {}};
  for (size_t k = 0; k < top.lives.size(); ++k) {
    const Life& life = top.lives[k];
    const int64_t offset = bytes - top.offsets[k] - life.bytes;
    offsets[top.index[k]] = offset;
    if (*std::max_element(height.begin() + life.begin, height.begin() + life.end) > offset)
      result.wrong.push_back(top.index[k]);
  }
  return result;
}

}  // namespace shw
