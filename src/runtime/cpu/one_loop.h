// Pointwise steps, and sums of rows, as one loop over the elements.
#pragma once
#include "runtime/cpu/loop_nest.h"

namespace shw::runtime::cpu {

// `later`: the steps of the group after these. Empty: the steps cannot share one loop, because of
// the memory that they share or because there are too many pointers.
std::optional<LoopNest> one_loop(std::span<const TracedStep> steps,
                                 std::span<const GroupStep> later);

}  // namespace shw::runtime::cpu
