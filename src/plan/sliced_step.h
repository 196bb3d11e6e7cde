// Steps that can run slice by slice: a slice of their results needs nothing but the same slice of
// their operands.
#pragma once
#include <vector>

#include "plan/program.h"
#include "plan/slice.h"

namespace shw {

// Operands that a step in a group may have.
inline constexpr size_t kMostSlicedOperands = 8;

// The shape that the step's loops run over: that of its largest operand or result. Empty: it is
// not among the kernels that run in slices.
Dims loop_shape(const Program& program, const ProgramStep& step);

// Whether the step computes each element of its one result from elements of its operands with the
// same index, or with that of its line: of a scatter at one place of each line, too.
bool is_pointwise(const Program& program, const ProgramStep& step);

// One step, cut.
struct SlicedStep {
  std::vector<Slice> inputs, outputs;  // those of absent operands are empty
  Attrs attrs;                         // dims are counted from the end
};
// Nothing: the step works along a dim that the loops cut, or they do not fit its shape.
std::optional<SlicedStep> slice_step(const Program& program, const ProgramStep& step,
                                     const SliceLoops& loops);

}  // namespace shw
