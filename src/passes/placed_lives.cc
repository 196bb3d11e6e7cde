#include "passes/placed_lives.h"

#include <algorithm>

namespace shw {

void PlacedLives::insert(const Life& life, uint32_t rank) {
  const auto before = [](int64_t offset, const Entry& e) { return offset < e.offset; };
  const auto next = std::upper_bound(
      runs_.begin() + 1, runs_.end(), life.offset,
      [](int64_t offset, const std::vector<Entry>& run) { return offset < run.front().offset; });
  std::vector<Entry>& run = *std::prev(next);
  run.insert(std::upper_bound(run.begin(), run.end(), life.offset, before),
             {life.begin, life.end, rank, life.offset, life.offset + life.bytes});
  if (run.size() < kRun) return;
  const auto half = run.begin() + kRun / 2;
  std::vector<Entry> upper(half, run.end());
  run.erase(half, run.end());
  runs_.insert(next, std::move(upper));
}

void PlacedLives::keep_below(uint32_t rank) {
  for (std::vector<Entry>& run : runs_)
    std::erase_if(run, [&](const Entry& e) { return e.rank >= rank; });
  runs_.erase(std::remove_if(runs_.begin() + 1, runs_.end(),
                             [](const std::vector<Entry>& run) { return run.empty(); }),
              runs_.end());
}

int64_t PlacedLives::lowest_gap(const Life& life) {
  int64_t free_from = 0;
  for (const std::vector<Entry>& run : runs_) {
    for (const Entry& other : run) {
      ++tests_;
      if (life.begin >= other.end || other.begin >= life.end) continue;
      if (other.offset - free_from >= life.bytes) return free_from;
      free_from = std::max(free_from, other.top);
    }
  }
  return free_from;
}

}  // namespace shw
