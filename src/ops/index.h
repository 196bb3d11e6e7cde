// Where the dims of an index op go: for inference and rules, and for the kernel.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

struct IndexShape {
  std::vector<bool> indexed;  // by dim of self
  std::vector<size_t> dims;   // of self, that operand 1, 2, … index
  Dims broadcast;             // the shape of the indices together
  size_t first = 0;           // where it begins in the result
  Dims result;
  size_t place_of(size_t dim) const;  // in the result, of a dim of self that is not indexed
};
Result<IndexShape> index_shape(const OpArgs& args);

}  // namespace shw::ops
