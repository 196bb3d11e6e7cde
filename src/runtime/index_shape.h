// Elements of a table that integer tensors point at: shapes and strides of the walk over them.
#pragma once
#include <vector>

#include "runtime/table_part.h"

namespace shw::runtime {

// A dim of the table that an index tensor chooses from.
struct IndexedDim {
  TablePart part;             // what is here of it
  int64_t stride_bytes = 0;   // in the table
  Dtype dtype = Dtype::kI64;  // of the index tensor
};

struct IndexShape {
  Dims shape;                 // of what is walked
  Dims positions;             // by dim of it, 1: of the index tensors; 0: the table's own
  Dims table, other;          // strides in bytes; of the table 0 along positions
  std::vector<Dims> indices;  // likewise, by index tensor
  std::vector<IndexedDim> indexed;
};

// Elements that are written (scatters, index_put) go into what begins as input 0: the result has
// its type, and the dtype of the elements. Null: a number is written.
Status check_written(const KernelArgs& args, const TensorType* elements);

// Of several index tensors, the inputs from `first_input` on (index, index_put). attrs.dims says
// which dims of the table they index (none: the first ones); they broadcast, and their shape stands
// in what is walked where the first of these dims stood if they are neighbours, else in front.
// `other`, read or written beside the table, broadcasts to what is walked, or is it, if `exact`.
Result<IndexShape> index_shape(const KernelArgs& args, const TensorType& table, size_t first_input,
                               const TensorType& other, bool exact);

// Along one dim of the table, attrs.dim, of indices of the table's rank, of which each stands
// beside an element of `other` (gather, scatter).
Result<IndexShape> element_lookup_shape(const KernelArgs& args, const TensorType& table,
                                        const TensorType& indices, const TensorType& other);
// Likewise, of a row of indices, each for a whole slice of `other` (index_select).
Result<IndexShape> slice_lookup_shape(const KernelArgs& args, const TensorType& table,
                                      const TensorType& indices, const TensorType& other);

}  // namespace shw::runtime
