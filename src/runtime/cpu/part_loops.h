// Pointwise steps combined with concatenations and scatters of slices along the last dim, as in
// rotary embeddings. There is one loop for each part of a row in which all elements come from the
// same operands.
#pragma once
#include "runtime/cpu/loop_nest.h"

namespace shw::runtime::cpu {

// `later`: the steps of the group after these. Empty: the steps cannot be compiled in this form.
std::optional<LoopNest> loops_by_part(std::span<const TracedStep> steps,
                                      std::span<const GroupStep> later);

}  // namespace shw::runtime::cpu
