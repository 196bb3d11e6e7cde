// Pointwise operations with broadcasting, conversions and strided copies: a thread an element.
#pragma once
#include "dense.cuh"
#include "move.cuh"

namespace shw::runtime::cuda {

template <class T>
__device__ inline void pointwise(void* out, const void* a, const void* b, const void* c,
                                 const PointwiseArguments& p) {
  const PointwiseFormula& f = p.formula;
  for (i64 i = thread_number(); i < p.loops.total; i += num_threads()) {
    const Offsets<4> at = offsets_at<4>(p.loops, p.stride, i);
    const T x = f.fixed == 0   ? fixed_value(f, T{})
                : a == nullptr ? T{}
                               : load<T>(a, at.of[1], p.dtype[1]);
    const T y = f.fixed == 1   ? fixed_value(f, T{})
                : b == nullptr ? T{}
                               : load<T>(b, at.of[2], p.dtype[2]);
    const T z = c == nullptr ? T{} : load<T>(c, at.of[3], p.dtype[3]);
    store(pointwise_result(f, x, y, z), out, at.of[0], p.dtype[0]);
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_pointwise_f32(void* out, const void* a, const void* b, const void* c,
                             shw::runtime::cuda::PointwiseArguments arguments) {
  shw::runtime::cuda::pointwise<float>(out, a, b, c, arguments);
}
SHW_KERNEL shw_pointwise_f64(void* out, const void* a, const void* b, const void* c,
                             shw::runtime::cuda::PointwiseArguments arguments) {
  shw::runtime::cuda::pointwise<double>(out, a, b, c, arguments);
}
SHW_KERNEL shw_pointwise_i64(void* out, const void* a, const void* b, const void* c,
                             shw::runtime::cuda::PointwiseArguments arguments) {
  shw::runtime::cuda::pointwise<shw::runtime::cuda::Int>(out, a, b, c, arguments);
}
SHW_KERNEL shw_pointwise_c64(void* out, const void* a, const void* b, const void* c,
                             shw::runtime::cuda::PointwiseArguments arguments) {
  shw::runtime::cuda::pointwise<shw::runtime::cuda::Complex>(out, a, b, c, arguments);
}
