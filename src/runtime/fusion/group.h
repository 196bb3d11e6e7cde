// A group of fused steps, prepared to run slice by slice. A tensor that only the group sees has no
// memory but a slice, in scratch memory.
#pragma once
#include <vector>

#include "plan/slice_accesses.h"

namespace shw::runtime {

// An operand of a member.
struct FusedOperand {
  ValueId value;  // absent: invalid
  // Operands with the same number may overlap, where they touch the same bytes of all slices.
  int64_t memory = 0, begin = 0, end = 0;
  int64_t temporary =
      -1;  // its first byte in the group's scratch; -1: it lies where the value lies
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

// `group` is one of the program's, which verify() has accepted.
SlicedGroup slice_group(const Program& program, const UseCounts& uses, const FusedGroup& group);

}  // namespace shw::runtime
