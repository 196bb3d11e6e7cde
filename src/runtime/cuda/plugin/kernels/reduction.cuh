// Sums, products, extremes, truth and variances over some dims. Reals accumulate in f64, so that
// the order of the additions does not show in an f32 result; integers wrap. Two ways: a thread a
// result, where few elements make one or where neighbouring results lie side by side; else a block
// a result. The order is fixed.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

__device__ inline double finished(const ReduceArguments& r, double sum) {
  return r.kind == ReduceKind::kMean ? sum / static_cast<double>(r.count) : sum;
}
__device__ inline Int finished(const ReduceArguments&, Int sum) { return sum; }

// What a result begins with.
__device__ inline double start(const ReduceArguments& r, double) {
  const double infinity = static_cast<double>(__int_as_float(0x7f800000));
  switch (r.kind) {
    case ReduceKind::kProduct:
      return 1;
    case ReduceKind::kMax:
      return -infinity;
    case ReduceKind::kMin:
      return infinity;
    default:
      return 0;
  }
}
__device__ inline Int start(const ReduceArguments& r, Int) {
  constexpr i64 kMost = 0x7fffffffffffffffLL;
  switch (r.kind) {
    case ReduceKind::kProduct:
    case ReduceKind::kAll:
      return {1};
    case ReduceKind::kMax:
      return {-kMost - 1};
    case ReduceKind::kMin:
      return {kMost};
    default:
      return {0};
  }
}

__device__ inline double extreme_of(const ReduceArguments& r, double a, double b) {
  if (a != a || b != b) return a != a ? a : b;  // NaN where either is
  return (a < b) == (r.kind == ReduceKind::kMax) ? b : a;
}
__device__ inline Int extreme_of(const ReduceArguments& r, Int a, Int b) {
  if (r.kind == ReduceKind::kAny) return {a.v | b.v};
  if (r.kind == ReduceKind::kAll) return {a.v & b.v};
  return (a.v < b.v) == (r.kind == ReduceKind::kMax) ? b : a;
}
template <class T>
__device__ inline T joined(const ReduceArguments& r, T a, T b) {
  switch (r.kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMean:
      return a + b;
    case ReduceKind::kProduct:
      return a * b;
    default:
      return extreme_of(r, a, b);
  }
}

__device__ inline double taken(const ReduceArguments& r, const void* in, i64 at, double) {
  return load<double>(in, at, r.in_dtype);
}
// Of truth: whether the element is not zero, whatever its type.
__device__ inline Int taken(const ReduceArguments& r, const void* in, i64 at, Int) {
  if (r.kind != ReduceKind::kAny && r.kind != ReduceKind::kAll)
    return load<Int>(in, at, r.in_dtype);
  const bool truth = r.in_dtype == kDeviceC64 ? is_true(load<Complex>(in, at, r.in_dtype))
                                              : is_true(load<double>(in, at, r.in_dtype));
  return {truth ? 1 : 0};
}

template <class T>
__device__ inline void reduce_each(void* out, const void* in, const ReduceArguments& r) {
  for (i64 i = thread_number(); i < r.kept.total; i += num_threads()) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    T sum = start(r, T{});
    for (i64 j = 0; j < r.reduced.total; ++j)
      sum = joined(r, sum, taken(r, in, from + offset_at(r.reduced, r.reduced_in, j), T{}));
    store(finished(r, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
  }
}

template <class T>
__device__ inline void reduce_block(void* out, const void* in, const ReduceArguments& r, T* sums) {
  const int me = threadIdx.x, threads = blockDim.x;
  for (i64 i = blockIdx.x; i < r.kept.total; i += gridDim.x) {
    const i64 from = offset_at(r.kept, r.kept_in, i);
    T sum = start(r, T{});
    for (i64 j = me; j < r.reduced.total; j += threads)
      sum = joined(r, sum, taken(r, in, from + offset_at(r.reduced, r.reduced_in, j), T{}));
    sums[me] = sum;
    __syncthreads();
    for (int width = threads / 2; width > 0; width /= 2) {  // a power of two threads
      if (me < width) sums[me] = joined(r, sums[me], sums[me + width]);
      __syncthreads();
    }
    if (me == 0) store(finished(r, sums[0]), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
    __syncthreads();
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
    const double mean = block_sum(sum, sums) / static_cast<double>(r.count);
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
