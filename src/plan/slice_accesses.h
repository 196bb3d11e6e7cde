// What the steps of a group read and write, slice by slice: which of it nobody else sees, and which
// steps may not run in slices beside each other.
#pragma once
#include <vector>

#include "plan/sliced_step.h"

namespace shw {

// Bytes that a step reads or writes.
struct SliceAccess {
  uint32_t step;
  bool writes;
  const Slice* slice;  // lent; null: the step does not run in slices
  StorageId storage;
  int64_t memory;      // places in the same memory may be the same bytes; see memory_of()
  int64_t begin, end;  // bytes of it
  const TensorType* type;
  bool is_temporary = false;  // of a storage that only the group sees
};
using SliceAccesses = std::vector<SliceAccess>;

// Each slice of `whole` is a piece of memory of its own, and the slice of `part` with the same
// number lies in it.
bool holds_slices(const SliceAccess& whole, const SliceAccess& part);

// Adds those of a step. `sliced`: null, if it does not run in slices.
void add_accesses(const Program& program, uint32_t step, const SlicedStep* sliced,
                  SliceAccesses& accesses);

// How many operands of steps lie in each storage.
using UseCounts = IndexVec<StorageId, uint32_t>;
UseCounts count_uses(const Program& program);

// Marks the accesses of storages of scratch that nobody but sliced steps among them sees, the first
// of which writes all that others read: a slice of them is enough. Gives the writers, in the order
// of their steps.
std::vector<const SliceAccess*> find_temporaries(const Program& program, const UseCounts& uses,
                                                 SliceAccesses& accesses);

// The first step that must not run before a slice of an earlier one has run, or before one that
// does not run in slices. kNoStep: there is none.
uint32_t first_conflict(const SliceAccesses& accesses);

}  // namespace shw
