// Assigns offsets in one arena to lifetimes, so that two that meet in time do not overlap in
// memory.
#pragma once
#include <cstdint>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

// The size at which an arena is small enough: slightly above the peak of live bytes, which is a
// lower bound.
int64_t small_arena(int64_t peak_bytes);

// kLong: for the final program, if kUsual did not make the arena small enough.
enum class PackEffort : uint8_t { kUsual, kLong };

// Sets the offset of each lifetime, may reorder the lifetimes, and returns the arena's size. `live`
// is live_bytes() of them; its maximum is a lower bound on the size. If the maximum exceeds
// `enough_bytes`, the first arena found is taken. An arena near the maximum is small enough, unless
// it exceeds `fitting_bytes` and the maximum does not.
Result<int64_t> pack(std::vector<Life>& lives, const std::vector<int64_t>& live,
                     int64_t enough_bytes, int64_t fitting_bytes, Monitor& monitor,
                     PackEffort effort = PackEffort::kUsual);

}  // namespace shw
