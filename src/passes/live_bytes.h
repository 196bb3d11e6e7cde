// The scratch memory that is live at each step when a program runs its steps in order.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

// The first and last step that touch a storage; first > last: none does.
struct Touched {
  uint32_t first = UINT32_MAX, last = 0;
};
std::vector<Touched> touched_storages(const Program& program);

class LiveBytes {
 public:
  LiveBytes(size_t num_points) : bytes_(num_points, 0) {}
  // Of arena storages, by step.
  static LiveBytes of(const Program& program, const std::vector<Touched>& touched);

  void add(uint32_t first, uint32_t end, int64_t bytes) {
    for (uint32_t i = first; i < end; ++i) bytes_[i] += bytes;
  }
  // The first point from which `bytes` more fit within the limit at every point up to `end`.
  uint32_t room_from(uint32_t first, uint32_t end, int64_t bytes, int64_t limit) const {
    while (end > first && bytes_[end - 1] <= limit - bytes) --end;
    return end;
  }

 private:
  std::vector<int64_t> bytes_;
};

}  // namespace shw
