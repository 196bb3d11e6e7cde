#include "plan/slice.h"

namespace shw {

std::optional<Slice> slice_of(const TensorType& type, const Dims& shape, const SliceLoops& loops) {
  if (type.shape.size() > shape.size()) return {};
  const size_t missing = shape.size() - type.shape.size();
  const int64_t element = dtype_size(type.dtype);
  Slice slice;
  slice.type.dtype = type.dtype;
  size_t d = 0;
  int64_t rest = shape.empty() ? 1 : shape[0];  // the part of dim d not yet cut by loops
  const auto broadcast = [&] { return d < missing || type.shape[d - missing] == 1; };
  for (size_t l = 0; l < loops.size(); ++l) {
    while (rest == 1 && d + 1 < shape.size()) rest = shape[++d];
    if (rest == 0 || rest % loops[l] != 0) return {};
    rest /= loops[l];
    slice.stride_bytes.push_back(broadcast() ? 0 : type.strides[d - missing] * rest * element);
  }
  slice.dims_cut = loops.empty() ? 0 : d + 1;
  for (d = loops.empty() ? 0 : rest == 1 ? d + 1 : d; d < shape.size(); ++d) {
    const bool cut = d + 1 == slice.dims_cut;
    if (d < missing) continue;
    slice.type.shape.push_back(cut && !broadcast() ? rest : type.shape[d - missing]);
    slice.type.strides.push_back(type.strides[d - missing]);
  }
  return slice;
}

SliceLoops loops_for(const Dims& shape, int64_t elements) {
  int64_t inner = 1;
  for (const int64_t n : shape) inner *= n;
  SliceLoops loops;
  for (size_t d = 0; d + 1 < shape.size() && inner > elements; ++d) {
    if (shape[d] == 1) continue;
    inner /= shape[d];
    if (inner > elements) {
      loops.push_back(shape[d]);
      continue;
    }
    int64_t rows = 1;  // rows of this dim in a slice: the largest fitting divisor
    for (int64_t r = 1; r * inner <= elements && r < shape[d]; ++r)
      if (shape[d] % r == 0) rows = r;
    loops.push_back(shape[d] / rows);
    break;
  }
  return loops;
}

}  // namespace shw
