// Sums, products, extremes, truth and variances over some dims. Two ways: a thread a result, where
// few elements make one or where neighbouring results lie side by side; else a block a result. The
// order is fixed.
#pragma once
#include "reduction_formula.cuh"

namespace shw::runtime::cuda {

__device__ inline double taken(const ReduceArguments& r, const void* in, i64 at, double) {
  return load<double>(in, at, r.in_dtype);
}
// Of truth: whether the element is not zero, whatever its type.
__device__ inline Int taken(const ReduceArguments& r, const void* in, i64 at, Int) {
  if (r.formula.kind != ReduceKind::kAny && r.formula.kind != ReduceKind::kAll)
    return load<Int>(in, at, r.in_dtype);
  const bool truth = r.in_dtype == kDeviceC64 ? is_true(load<Complex>(in, at, r.in_dtype))
                                              : is_true(load<double>(in, at, r.in_dtype));
  return {truth ? 1 : 0};
}

template <class T>
__device__ inline void reduce_each(void* out, const void* in, const ReduceArguments& r) {
  for (i64 i = thread_number(); i < r.kept.total; i += num_threads()) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    T sum = start(r.formula, T{});
    for (i64 j = 0; j < r.reduced.total; ++j)
      sum = joined(r.formula, sum, taken(r, in, from + offset_at(r.reduced, r.reduced_in, j), T{}));
    store(finished(r.formula, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
  }
}

template <class T>
__device__ inline void reduce_block(void* out, const void* in, const ReduceArguments& r, T* sums) {
  const int me = threadIdx.x, threads = blockDim.x;
  for (i64 i = blockIdx.x; i < r.kept.total; i += gridDim.x) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    T sum = start(r.formula, T{});
    for (i64 j = me; j < r.reduced.total; j += threads)
      sum = joined(r.formula, sum, taken(r, in, from + offset_at(r.reduced, r.reduced_in, j), T{}));
    sum = block_joined(r.formula, sum, sums);
    if (me == 0) store(finished(r.formula, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
  }
}

// The mean square distance from the mean, in two passes: a block a result.
__device__ inline void variance(void* out, const void* in, const ReduceArguments& r, double* sums) {
  const int me = threadIdx.x, threads = blockDim.x;
  for (i64 i = blockIdx.x; i < r.kept.total; i += gridDim.x) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    double sum = 0, squares = 0;
    for (i64 j = me; j < r.reduced.total; j += threads)
      sum += load_real<double>(in, from + offset_at(r.reduced, r.reduced_in, j), r.in_dtype);
    const double mean = block_sum(sum, sums) / static_cast<double>(r.formula.count);
    for (i64 j = me; j < r.reduced.total; j += threads) {
      const i64 at = from + offset_at(r.reduced, r.reduced_in, j);
      const double distance = load_real<double>(in, at, r.in_dtype) - mean;
      squares += distance * distance;
    }
    squares = block_sum(squares, sums);
    if (me == 0)
      store_real(squares / r.divisor, out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
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
SHW_KERNEL shw_variance(void* out, const void* in, shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::variance(out, in, arguments, sums);
}
