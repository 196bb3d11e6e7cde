// One change of layout without a graph: how the ranks bring a tensor from one layout into another,
// and at what cost.
#pragma once
#include <string_view>

#include "compiler/pipeline.h"

namespace shw {

// The plan of a program with one input, "input.0", and one output, "output": the same tensor in two
// layouts. `type` is a tensor type, "f32[8192,8192]". Only the mesh, the hardware and the solver's
// options have an effect; layouts, pins and rules must not be given. INVALID_ARGUMENT: a layout
// that the tensor cannot have.
Result<Compiled> compile_reshard(std::string_view type, std::string_view from, std::string_view to,
                                 CompileOptions options, Monitor& monitor);

}  // namespace shw
