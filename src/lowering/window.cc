#include "lowering/window.h"

#include <utility>

#include "ops/slice.h"
#include "ops/squeeze.h"

namespace shw {
namespace {

size_t wrapped(int64_t dim, size_t rank) {
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}

TensorType permuted(const TensorType& in, const std::vector<int64_t>& order) {
  TensorType out{{}, {}, in.dtype};
  for (int64_t d : order) {
    const size_t from = wrapped(d, in.shape.size());
    out.shape.push_back(in.shape[from]);
    out.strides.push_back(in.strides[from]);
  }
  return out;
}

// Dims are matched from the right. Dims that the operand lacks, or has with size 1, are repeated.
TensorType expanded(const TensorType& in, const Dims& shape) {
  TensorType out{shape, Dims(shape.size(), 0), in.dtype};
  const size_t added = shape.size() - in.shape.size();
  for (size_t d = added; d < shape.size(); ++d)
    if (in.shape[d - added] == shape[d]) out.strides[d] = in.strides[d - added];
  return out;
}

// The global size decides whether a dim is removed, since a dim of size 1 on this rank may be a
// shard.
TensorType squeezed(TensorType in, const Result<std::vector<bool>>& gone) {
  for (size_t d = gone.ok() ? in.shape.size() : 0; d-- > 0;) {
    if (!(*gone)[d]) continue;
    in.shape.erase(d);
    in.strides.erase(d);
  }
  return in;
}

TensorType unsqueezed(TensorType in, int64_t dim) {
  const size_t at = wrapped(dim, in.shape.size() + 1);
  const int64_t stride = at < in.shape.size() ? in.shape[at] * in.strides[at] : 1;
  in.shape.insert(at, 1);
  in.strides.insert(at, stride);
  return in;
}

// Operand dims are grouped into runs that have one common stride in memory. The runs are divided
// into the result's dims from the right. A result dim that would span two runs has no stride, so
// there is no window.
std::optional<TensorType> viewed(const TensorType& in, const Dims& shape) {
  if (in.contiguous()) return row_major(in.dtype, shape);
  TensorType out{shape, Dims(shape.size(), 1), in.dtype};
  size_t to = shape.size();
  int64_t run = 1, innermost = 1;
  for (size_t d = in.shape.size(); d-- > 0;) {
    if (run == 1) innermost = in.strides[d];
    run *= in.shape[d];
    const bool ends =
        d == 0 || (in.shape[d - 1] != 1 && (run != 1 && in.strides[d - 1] != run * innermost));
    if (!ends) continue;
    int64_t filled = 1;
    while (to > 0 && (filled < run || shape[to - 1] == 1)) {
      out.strides[--to] = filled * innermost;
      filled *= shape[to];
    }
    if (filled != run) return std::nullopt;
    run = 1;
  }
  if (to != 0) return std::nullopt;
  return out;
}

std::optional<TensorType> as_complex(const ProgramValue& v) {
  const TensorType& in = v.type;
  if (in.shape.empty() || in.shape.back() != 2 || in.strides.back() != 1 ||
      v.offset_bytes % dtype_size(Dtype::kC64) != 0)
    return std::nullopt;
  TensorType out{{}, {}, Dtype::kC64};
  for (size_t d = 0; d + 1 < in.shape.size(); ++d) {
    if (in.strides[d] % 2 != 0 && in.shape[d] != 1) return std::nullopt;
    out.shape.push_back(in.shape[d]);
    out.strides.push_back(in.strides[d] / 2);
  }
  return out;
}

TensorType as_real(TensorType in) {
  for (int64_t& s : in.strides) s *= 2;
  in.shape.push_back(2);
  in.strides.push_back(1);
  in.dtype = Dtype::kF32;
  return in;
}

// Elements start, start + step, … of dim `dim`.
ProgramValue narrowed(ProgramValue v, size_t dim, int64_t start, int64_t size, int64_t step) {
  v.offset_bytes += start * v.type.strides[dim] * dtype_size(v.type.dtype);
  v.type.shape[dim] = size;
  v.type.strides[dim] *= step;
  if (v.type.numel() == 0) v.offset_bytes = 0;  // it may begin after the end of the storage
  return v;
}

// The dim is whole on this rank, unless the slice takes all of it.
std::optional<ProgramValue> sliced(const Attrs& attrs, const Dims& global, const ProgramValue& v) {
  const auto range = ops::slice_range(attrs, global);
  if (!range.ok()) return std::nullopt;
  if (range->size == global[range->dim]) return v;
  return narrowed(v, range->dim, range->start, range->size, range->step);
}

std::optional<ProgramValue> split(const Attrs& attrs, const Dims& global, const ProgramValue& v,
                                  size_t result) {
  const auto pieces = ops::split_pieces(attrs, global);
  if (!pieces.ok() || result >= pieces->sizes.size()) return std::nullopt;
  int64_t start = 0;
  for (size_t i = 0; i < result; ++i) start += pieces->sizes[i];
  return narrowed(v, pieces->dim, start, pieces->sizes[result], 1);
}

// Selects element `index` of dim `dim`, and removes the dim.
ProgramValue selected(const ProgramValue& v, size_t dim, int64_t index) {
  ProgramValue element = narrowed(v, dim, index, 1, 1);
  element.type.shape.erase(dim);
  element.type.strides.erase(dim);
  return element;
}

// The windows of ops that select some of the elements.
std::optional<ProgramValue> picked(OpKind op, const Attrs& attrs, const Dims& global,
                                   const ProgramValue& v, size_t result) {
  switch (op) {
    case OpKind::kSlice:
      return sliced(attrs, global, v);
    case OpKind::kSplit:
    case OpKind::kSplitWithSizes:
      return split(attrs, global, v, result);
    case OpKind::kSelect: {
      const auto at = ops::select_at(attrs, global);
      if (!at.ok()) return std::nullopt;
      return selected(v, at->dim, at->index);
    }
    case OpKind::kUnbind: {
      const size_t dim = wrapped(attrs.get_int(AttrKey::kDim, 0), global.size());
      if (dim >= global.size() || static_cast<int64_t>(result) >= global[dim]) return std::nullopt;
      return selected(v, dim, static_cast<int64_t>(result));
    }
    default:
      return std::nullopt;
  }
}

// Exchanges two dims.
TensorType exchanged(TensorType in, int64_t a, int64_t b) {
  const size_t i = wrapped(a, in.shape.size()), j = wrapped(b, in.shape.size());
  if (i < in.shape.size() && j < in.shape.size()) {
    std::swap(in.shape[i], in.shape[j]);
    std::swap(in.strides[i], in.strides[j]);
  }
  return in;
}

std::optional<TensorType> window_type(OpKind op, const Attrs& attrs, const TensorType& global,
                                      const ProgramValue& operand, const Dims& local_result) {
  switch (op) {
    case OpKind::kAlias:
    case OpKind::kGetItem:
    case OpKind::kShardingConstraint:
      return operand.type;
    case OpKind::kPermute:
      return permuted(operand.type, attrs.get_ints(AttrKey::kDims));
    case OpKind::kTranspose:
      return exchanged(operand.type, attrs.get_int(AttrKey::kDim0, 0),
                       attrs.get_int(AttrKey::kDim1, 1));
    case OpKind::kT:
      return exchanged(operand.type, 0, 1);
    case OpKind::kExpand:
      return expanded(operand.type, local_result);
    case OpKind::kSqueeze:
      return squeezed(operand.type, ops::squeezed_dims(attrs, global.shape));
    case OpKind::kUnsqueeze:
      return unsqueezed(operand.type, attrs.get_int(AttrKey::kDim, 0));
    case OpKind::kView:
      return viewed(operand.type, local_result);
    case OpKind::kViewAsComplex:
      return as_complex(operand);
    case OpKind::kViewAsReal:
      return as_real(operand.type);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ProgramValue> view_window(OpKind op, const Attrs& attrs, const TensorType& global,
                                        const ProgramValue& operand, const Dims& local_result,
                                        size_t result) {
  auto window = picked(op, attrs, global.shape, operand, result);
  if (!window) {
    const auto type = window_type(op, attrs, global, operand, local_result);
    if (type) window = ProgramValue{*type, operand.storage, operand.offset_bytes};
  }
  if (window && window->type.shape != local_result) window.reset();
  return window;
}

}  // namespace shw
