// A group of fused steps, prepared to run slice by slice. A tensor that is used only within the
// group exists only as one slice, in scratch memory.
#pragma once
#include <vector>

#include "plan/slice_accesses.h"

namespace shw::runtime {

// An operand of a member.
struct FusedOperand {
  ValueId value;  // invalid if the operand is absent
  // Operands with the same `memory` may overlap: they do if their byte ranges, over all slices,
  // intersect.
  int64_t memory = 0, begin = 0, end = 0;
  int64_t temporary =
      // Offset in the group's scratch memory; -1: the operand lies in the memory of its value.
      -1;
  Slice slice;
};
struct FusedStep {
  uint32_t step = 0;
  Attrs attrs;
  std::vector<FusedOperand> operands;  // inputs, then outputs
};
struct SlicedGroup {
  SliceLoops loops;
  std::vector<FusedStep> members;
  int64_t scratch_bytes = 0;
};

// `group` must be a group of the program, which verify() has accepted.
SlicedGroup slice_group(const Program& program, const UseCounts& uses, const FusedGroup& group);

}  // namespace shw::runtime
