// Whether a step reads an input, or writes an output, of a given role.
#pragma once
#include "plan/program.h"

namespace shw {

// `values`: the operands or the results of a step.
bool touches(const Program& program, std::span<const ValueId> values, PortRole role);

}  // namespace shw
