// Lays lifetimes onto two skylines: long ones onto one that grows from the bottom of an arena, the
// others onto one that grows from its top. Long lifetimes, such as those from the forward to the
// backward pass, lie within each other and leave few gaps; short ones find flat ground.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

// Sets the offsets of all lifetimes in an arena of so many bytes, by their keys (skyline.h). Those
// of at least `least_steps` are long. Returns the short ones that overlap long ones or lie below
// offset 0: none if all is well. False in `placed`: the long ones alone take more.
struct TwoEnds {
  bool placed = false;
  std::vector<uint32_t> wrong;
};
Result<TwoEnds> place_at_two_ends(std::span<const Life> lives, std::span<const double> keys,
                                  uint32_t least_steps, int64_t bytes, int64_t max_tests,
                                  std::vector<int64_t>& offsets, Monitor& monitor);

}  // namespace shw
