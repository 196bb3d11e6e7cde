#include "runtime/cuda/plugin/loops.h"

namespace shw::runtime::cuda {

DeviceLoops device_loops(const Dims& shape, std::span<const Dims> strides,
                         i64 (*stride)[kMaxLoops]) {
  const StridedLoop merged = make_loop(shape, strides);
  DeviceLoops loops{merged.rank + 1, merged.row_size, {}};
  for (int d = 0; d < merged.rank; ++d) {
    const auto at = static_cast<size_t>(d);
    loops.size[d] = merged.size[at];
    loops.total *= merged.size[at];
    for (size_t o = 0; o < strides.size(); ++o) stride[o][d] = merged.stride_bytes[o][at];
  }
  loops.size[merged.rank] = merged.row_size;
  for (size_t o = 0; o < strides.size(); ++o) stride[o][merged.rank] = merged.row_stride_bytes[o];
  return loops;
}

DeviceLoops plain_loops(const Dims& shape) {
  DeviceLoops loops{static_cast<int>(shape.size()), 1, {}};
  for (size_t d = 0; d < shape.size(); ++d) {
    loops.size[d] = shape[d];
    loops.total *= shape[d];
  }
  return loops;
}

void set_strides(const Dims& strides, i64* to) {
  for (size_t d = 0; d < strides.size(); ++d) to[d] = strides[d];
}

Dims strides_bytes(const TensorType& type) { return broadcast_strides_bytes(type, type.shape); }

}  // namespace shw::runtime::cuda
