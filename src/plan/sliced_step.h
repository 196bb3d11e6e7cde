// Steps that can run slice by slice, since a slice of their results depends only on the same slice
// of their operands.
#pragma once
#include <vector>

#include "plan/program.h"
#include "plan/slice.h"

namespace shw {

// The maximum number of operands of a step in a group.
inline constexpr size_t kMostSlicedOperands = 8;

// The iteration space of the step's loops: the shape of its largest operand or result. Empty: its
// kernel cannot run in slices.
Dims loop_shape(const Program& program, const ProgramStep& step);

// Whether the step computes each element of its single result from operand elements with the same
// index, or with the index of its line. Includes a scatter to one place of each line.
bool is_pointwise(const Program& program, const ProgramStep& step);

// One step, cut into slices.
struct SlicedStep {
  std::vector<Slice> inputs, outputs;  // those of absent operands are empty
  Attrs attrs;                         // dims are counted from the end
};
// Nothing if the step works along a dim that the loops cut, or the loops do not fit its shape.
std::optional<SlicedStep> slice_step(const Program& program, const ProgramStep& step,
                                     const SliceLoops& loops);

}  // namespace shw
