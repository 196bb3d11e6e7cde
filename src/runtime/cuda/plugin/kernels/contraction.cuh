// Einstein sums that cuBLASLt does not take: integers, mixed types, sums of nothing. A thread a
// result, with any strides.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

template <class T>
__device__ inline void contract(void* out, const void* left, const void* right,
                                const ContractArguments& c) {
  for (i64 i = thread_number(); i < c.kept.total; i += num_threads()) {
    const Offsets<3> at = offsets_at<3>(c.kept, c.kept_stride, i);
    T sum = {};
    for (i64 j = 0; j < c.depth.total; ++j) {
      const Offsets<2> in = offsets_at<2>(c.depth, c.depth_stride, j);
      sum = sum + load<T>(left, at.of[0] + in.of[0], c.dtype[0]) *
                      load<T>(right, at.of[1] + in.of[1], c.dtype[1]);
    }
    store(sum, out, at.of[2], c.dtype[2]);
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_contract_f32(void* out, const void* left, const void* right,
                            shw::runtime::cuda::ContractArguments arguments) {
  shw::runtime::cuda::contract<float>(out, left, right, arguments);
}
SHW_KERNEL shw_contract_f64(void* out, const void* left, const void* right,
                            shw::runtime::cuda::ContractArguments arguments) {
  shw::runtime::cuda::contract<double>(out, left, right, arguments);
}
SHW_KERNEL shw_contract_i64(void* out, const void* left, const void* right,
                            shw::runtime::cuda::ContractArguments arguments) {
  shw::runtime::cuda::contract<shw::runtime::cuda::Int>(out, left, right, arguments);
}
SHW_KERNEL shw_contract_c64(void* out, const void* left, const void* right,
                            shw::runtime::cuda::ContractArguments arguments) {
  shw::runtime::cuda::contract<shw::runtime::cuda::Complex>(out, left, right, arguments);
}
