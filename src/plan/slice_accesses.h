// What the steps of a group read and write, slice by slice. From this follow the storages that no
// other step touches, and the steps that must not share a group.
#pragma once
#include <vector>

#include "plan/sliced_step.h"

namespace shw {

// Bytes that a step reads or writes.
struct SliceAccess {
  uint32_t step;
  bool writes;
  const Slice* slice;  // not owned; null: the step does not run in slices
  StorageId storage;
  int64_t memory;      // accesses with the same memory may share bytes; see memory_of()
  int64_t begin, end;  // bytes of it
  const TensorType* type;
  bool is_temporary = false;  // of a storage that only the group sees
};
using SliceAccesses = std::vector<SliceAccess>;

// Whether the slices of `whole` are disjoint in memory, and each slice of `part` lies in the slice
// of `whole` with the same number.
bool holds_slices(const SliceAccess& whole, const SliceAccess& part);

// Adds the accesses of a step. `sliced`: null if it does not run in slices.
void add_accesses(const Program& program, uint32_t step, const SlicedStep* sliced,
                  SliceAccesses& accesses);

// By storage: the number of step operands in it.
using UseCounts = IndexVec<StorageId, uint32_t>;
UseCounts count_uses(const Program& program);

// Marks accesses to temporaries: scratch storages that only sliced steps in `accesses` touch, and
// of which the first access writes everything that the others read. Memory for one slice of such a
// storage is enough. Returns their writers, in the order of steps.
std::vector<const SliceAccess*> find_temporaries(const Program& program, const UseCounts& uses,
                                                 SliceAccesses& accesses);

// The first sliced step that must wait for other slices of an earlier step, or for an earlier step
// that does not run in slices. A group must end before it. kNoStep: there is none.
uint32_t first_conflict(const SliceAccesses& accesses);

}  // namespace shw
