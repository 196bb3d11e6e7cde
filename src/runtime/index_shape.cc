#include "runtime/index_shape.h"

#include <array>

#include "runtime/dim.h"
#include "runtime/strided.h"

namespace shw::runtime {
namespace {

int64_t stride_bytes(const TensorType& type, size_t dim) {
  return type.strides[dim] * dtype_size(type.dtype);
}

Status refuse(const TensorType& table, const TensorType& indices, const TensorType& other) {
  return bad_types(
      "indices " + to_string(indices) + " into " + to_string(table) +
      " do not match the elements " + to_string(other) +
      ": expected i32 or i64 indices, with the shape of the elements or, if they select "
      "whole slices, with one dim");
}

// Common part of both look-ups along a dim; the iteration space is that of `other`.
Result<IndexShape> along_dim(const KernelArgs& args, const TensorType& table,
                             const TensorType& indices, const TensorType& other, size_t dim) {
  IndexShape s;
  s.shape = other.shape;
  s.positions = Dims(other.shape.size(), 0);
  s.positions[dim] = 1;
  s.table = leading_strides_bytes(table, table.shape.size());
  s.table[dim] = 0;
  s.other = leading_strides_bytes(other, other.shape.size());
  SHW_ASSIGN_OR_RETURN(const TablePart part, table_part(args, table, dim));
  s.indexed.push_back({part, stride_bytes(table, dim), indices.dtype});
  return s;
}

}  // namespace

Result<IndexShape> element_lookup_shape(const KernelArgs& args, const TensorType& table,
                                        const TensorType& indices, const TensorType& other) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, table));
  bool fits = is_index_dtype(indices.dtype) && indices.shape == other.shape &&
              indices.rank() == table.rank();
  for (size_t d = 0; fits && d < table.shape.size(); ++d)
    fits = d == dim || indices.shape[d] <= table.shape[d];
  if (!fits) return refuse(table, indices, other);
  SHW_ASSIGN_OR_RETURN(IndexShape s, along_dim(args, table, indices, other, dim));
  s.indices.push_back(leading_strides_bytes(indices, indices.shape.size()));
  return s;
}

Result<IndexShape> slice_lookup_shape(const KernelArgs& args, const TensorType& table,
                                      const TensorType& indices, const TensorType& other) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, table));
  Dims expected = table.shape;
  if (indices.rank() == 1) expected[dim] = indices.shape[0];
  if (!is_index_dtype(indices.dtype) || indices.rank() != 1 || other.shape != expected)
    return refuse(table, indices, other);
  SHW_ASSIGN_OR_RETURN(IndexShape s, along_dim(args, table, indices, other, dim));
  s.indices.push_back(Dims(table.shape.size(), 0));
  s.indices[0][dim] = stride_bytes(indices, 0);
  return s;
}

Result<IndexShape> index_shape(const KernelArgs& args, const TensorType& table, size_t first_input,
                               const TensorType& other, bool exact) {
  const size_t count = args.inputs.size() - first_input;
  const std::vector<int64_t>& named = args.attrs.get_ints(AttrKey::kDims);
  const auto refuse_all = [&] {
    return bad_types(std::to_string(count) + " index tensors into " + to_string(table) +
                     " do not match the elements " + to_string(other) +
                     ": expected one i32 or i64 tensor for each indexed dim, in ascending order of "
                     "dims, with shapes that broadcast against each other");
  };
  if (count == 0 || count > table.shape.size() || (!named.empty() && named.size() != count))
    return refuse_all();
  std::array<bool, kMaxRank> gone{};
  std::vector<size_t> dims;
  Dims block;  // the indices' broadcast shape
  for (size_t k = 0; k < count; ++k) {
    const int64_t dim = named.empty() ? static_cast<int64_t>(k) : named[k];
    const TensorType& t = *args.inputs[first_input + k];
    if (dim < 0 || dim >= table.rank() || gone[static_cast<size_t>(dim)] ||
        (k > 0 && static_cast<size_t>(dim) < dims.back()) || !is_index_dtype(t.dtype))
      return refuse_all();
    dims.push_back(static_cast<size_t>(dim));
    gone[dims.back()] = true;
    while (block.size() < t.shape.size()) block.insert(0, 1);
    const size_t lacks = block.size() - t.shape.size();
    for (size_t d = 0; d < t.shape.size(); ++d)
      if (block[lacks + d] == 1) block[lacks + d] = t.shape[d];
  }
  if (table.shape.size() - count + block.size() > kMaxRank) return refuse_all();
  const bool neighbours = dims.back() - dims.front() + 1 == count;
  const size_t first = neighbours ? dims.front() : 0;

  IndexShape s;
  for (size_t d = 0; d < table.shape.size(); ++d) {
    if (gone[d]) continue;
    s.shape.push_back(table.shape[d]);
    s.positions.push_back(0);
    s.table.push_back(stride_bytes(table, d));
  }
  for (size_t b = 0; b < block.size(); ++b) {
    s.shape.insert(first + b, block[b]);
    s.positions.insert(first + b, 1);
    s.table.insert(first + b, 0);
  }
  if (exact ? other.shape != s.shape : !broadcasts_to(other.shape, s.shape)) return refuse_all();
  s.other = broadcast_strides_bytes(other, s.shape);
  for (size_t k = 0; k < count; ++k) {
    const TensorType& t = *args.inputs[first_input + k];
    if (!broadcasts_to(t.shape, block)) return refuse_all();
    const Dims own = broadcast_strides_bytes(t, block);
    s.indices.push_back(Dims(s.shape.size(), 0));
    for (size_t b = 0; b < block.size(); ++b) s.indices[k][first + b] = own[b];
    SHW_ASSIGN_OR_RETURN(const TablePart part, table_part(args, table, dims[k]));
    s.indexed.push_back({part, stride_bytes(table, dims[k]), t.dtype});
  }
  return s;
}

Status check_written(const KernelArgs& args, const TensorType* elements) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  if (in.shape == out.shape && in.dtype == out.dtype &&
      (elements == nullptr || elements->dtype == out.dtype))
    return {};
  return bad_types("cannot write " + (elements == nullptr ? "a number" : to_string(*elements)) +
                   " into " + to_string(in) + " with the result " + to_string(out) +
                   ": expected a result of the operand's shape, and the same dtype for all");
}

}  // namespace shw::runtime
