// The dims of index and index_put, for inference and rules.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

struct IndexShape {
  std::vector<bool> indexed;  // by dim of self
  std::vector<size_t> dims;   // of self, that the index tensors index
  Dims broadcast;             // the shape of the indices together
  size_t first = 0;           // where it begins in the result
  Dims result;
  size_t place_of(size_t dim) const;  // in the result, of a dim of self that is not indexed
};
// Index tensors are the operands from `first_index` on.
Result<IndexShape> index_shape(const OpArgs& args, size_t first_index = 1);

}  // namespace shw::ops
