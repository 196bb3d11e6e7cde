// Shapes and strides for steps that read or write the elements of a table that integer tensors
// select.
#pragma once
#include <vector>

#include "runtime/table_part.h"

namespace shw::runtime {

// A dim of the table that an index tensor selects from.
struct IndexedDim {
  TablePart part;             // the entries along this dim that this rank holds
  int64_t stride_bytes = 0;   // in the table
  Dtype dtype = Dtype::kI64;  // of the index tensor
};

struct IndexShape {
  // The iteration space: its sizes.
  Dims shape;
  // By dim of the iteration space: 1 for a dim of the index tensors, 0 for one of the table.
  Dims positions;
  // Strides in bytes by dim; those of the table are 0 in dims of the index tensors.
  Dims table, other;
  std::vector<Dims> indices;  // strides in bytes, by index tensor
  std::vector<IndexedDim> indexed;
};

// Checks a step that writes elements into a table (scatters, index_put). The result begins as a
// copy of input 0, so it has input 0's type; the elements have its dtype. `elements` null: a number
// is written.
Status check_written(const KernelArgs& args, const TensorType* elements);

// index and index_put: the index tensors are the inputs from `first_input` on. attrs.dims names the
// table dims that they index (absent: the first ones). The index tensors broadcast to one shape.
// Its dims replace the indexed dims if these are adjacent; otherwise they come first. `other`,
// which is read or written together with the table, must have the shape of the iteration space if
// `exact`, or else broadcast to it.
Result<IndexShape> index_shape(const KernelArgs& args, const TensorType& table, size_t first_input,
                               const TensorType& other, bool exact);

// gather and scatter: indices along table dim attrs.dim. The index tensor has the table's rank, and
// each index belongs to one element of `other`.
Result<IndexShape> element_lookup_shape(const KernelArgs& args, const TensorType& table,
                                        const TensorType& indices, const TensorType& other);
// index_select: a 1-D tensor of indices along table dim attrs.dim. Each index selects a whole slice
// of `other`.
Result<IndexShape> slice_lookup_shape(const KernelArgs& args, const TensorType& table,
                                      const TensorType& indices, const TensorType& other);

}  // namespace shw::runtime
