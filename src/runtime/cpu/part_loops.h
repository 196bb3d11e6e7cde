// Pointwise steps around concatenations and scatters of slices along the last dim, as rotary
// embeddings have them: a loop for each part of a row in which every element comes from the same
// operands.
#pragma once
#include "runtime/cpu/loop_nest.h"

namespace shw::runtime::cpu {

// `later`: the steps of the group after these. Nothing: they cannot be done so.
std::optional<LoopNest> loops_by_part(std::span<const TracedStep> steps,
                                      std::span<const GroupStep> later);

}  // namespace shw::runtime::cpu
