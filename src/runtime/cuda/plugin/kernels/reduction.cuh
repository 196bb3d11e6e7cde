// Sums and means over some dims. Reals accumulate in f64, so that the order of the additions does
// not show in an f32 result; integers wrap. Two ways: a thread a result, where few elements make
// one or where neighbouring results lie side by side; else a block a result. The order is fixed.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

__device__ inline double finished(const ReduceArguments& r, double sum) {
  return r.kind == ReduceKind::kMean ? sum / static_cast<double>(r.count) : sum;
}
__device__ inline Int finished(const ReduceArguments&, Int sum) { return sum; }

template <class T>
__device__ inline void reduce_each(void* out, const void* in, const ReduceArguments& r) {
  for (i64 i = thread_number(); i < r.kept.total; i += num_threads()) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    T sum = {};
    for (i64 j = 0; j < r.reduced.total; ++j)
      sum = sum + load<T>(in, from + offset_at(r.reduced, r.reduced_in, j), r.in_dtype);
    store(finished(r, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
  }
}

template <class T>
__device__ inline void reduce_block(void* out, const void* in, const ReduceArguments& r, T* sums) {
  const int me = threadIdx.x, threads = blockDim.x;
  for (i64 i = blockIdx.x; i < r.kept.total; i += gridDim.x) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    T sum = {};
    for (i64 j = me; j < r.reduced.total; j += threads)
      sum = sum + load<T>(in, from + offset_at(r.reduced, r.reduced_in, j), r.in_dtype);
    sums[me] = sum;
    __syncthreads();
    for (int width = threads / 2; width > 0; width /= 2) {  // a power of two threads
      if (me < width) sums[me] = sums[me] + sums[me + width];
      __syncthreads();
    }
    if (me == 0) store(finished(r, sums[0]), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
    __syncthreads();
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_reduce_each_f64(void* out, const void* in,
                               shw::runtime::cuda::ReduceArguments arguments) {
  shw::runtime::cuda::reduce_each<double>(out, in, arguments);
}
SHW_KERNEL shw_reduce_each_i64(void* out, const void* in,
                               shw::runtime::cuda::ReduceArguments arguments) {
  shw::runtime::cuda::reduce_each<shw::runtime::cuda::Int>(out, in, arguments);
}
SHW_KERNEL shw_reduce_block_f64(void* out, const void* in,
                                shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::reduce_block<double>(out, in, arguments, sums);
}
SHW_KERNEL shw_reduce_block_i64(void* out, const void* in,
                                shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ shw::runtime::cuda::Int sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::reduce_block<shw::runtime::cuda::Int>(out, in, arguments, sums);
}
