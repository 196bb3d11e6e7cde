// Groups of steps that run together, slice by slice, so that what one leaves is still in the cache
// when the next reads it. A tensor that only the group sees has no memory but a slice.
#pragma once
#include <vector>

#include "runtime/fusion/local_step.h"

namespace shw::runtime {

// An operand of a member.
struct FusedOperand {
  ValueId value;  // absent: invalid
  int64_t temporary =
      -1;  // its first byte in the group's scratch; -1: it lies where the value lies
  Slice slice;
};
struct FusedStep {
  uint32_t step = 0;
  Attrs attrs;
  std::vector<FusedOperand> operands;  // inputs, then outputs
};
struct StepGroup {
  SliceLoops loops;
  std::vector<FusedStep> members;
  std::vector<uint32_t> after;  // steps that stand among the members, and run behind the group
  int64_t scratch_bytes = 0;
  uint32_t end = 0;  // the step behind the last of both
};

// How many operands of steps lie in each storage.
using StorageUses = IndexVec<StorageId, uint32_t>;
StorageUses storage_uses(const Program& program);

// The group that begins at `step`, of the entry that ends before `end`. Nothing: the step runs
// alone.
std::optional<StepGroup> find_group(const Program& program, const StorageUses& uses, uint32_t step,
                                    uint32_t end);

}  // namespace shw::runtime
