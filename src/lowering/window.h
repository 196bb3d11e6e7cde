// Lowers views to windows: computes what a view op does to the shape, strides and offset of one
// rank's piece, so that the program needs no step for it.
#pragma once
#include <optional>

#include "graph/graph.h"
#include "plan/program.h"

namespace shw {

// The window into `operand`'s storage that shows the result of `op`; for a tuple, result number
// `result`. `operand` is one rank's piece of a tensor of `global` type. `local_result` is the shape
// of that rank's piece of the result. nullopt: the operand's strides do not allow a window, or the
// op is not a view. For a row-major operand, every view op has a window.
std::optional<ProgramValue> view_window(OpKind op, const Attrs& attrs, const TensorType& global,
                                        const ProgramValue& operand, const Dims& local_result,
                                        size_t result = 0);

}  // namespace shw
