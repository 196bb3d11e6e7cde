// Offsets in one arena for lifetimes: those that meet do not overlap.
#pragma once
#include <cstdint>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

// An arena is small enough at this: near the most that is live at a step, which none is below.
int64_t small_arena(int64_t peak_bytes);

// kLong: for a program that is the answer, where kUsual did not make the arena small enough.
enum class PackEffort : uint8_t { kUsual, kLong };

// Sets the offset of each lifetime and may reorder them. `live` is live_bytes() of them: no arena
// is smaller than its maximum. If that exceeds `enough_bytes`, the arena is the first that is
// found. Near that maximum an arena is small enough, unless it exceeds `fitting_bytes` and the
// maximum does not. The result is its size.
Result<int64_t> pack(std::vector<Life>& lives, const std::vector<int64_t>& live,
                     int64_t enough_bytes, int64_t fitting_bytes, Monitor& monitor,
                     PackEffort effort = PackEffort::kUsual);

}  // namespace shw
