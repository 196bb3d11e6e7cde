// Sums, products, extremes, truth and variances over some dims. Three ways: a thread a result,
// where few elements make one; where neighbouring results lie side by side, a block for the columns
// of some results and a slice of their rows, and then a thread a result for what the slices gave;
// else a block a result. The order is fixed.
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
    if (me == 0)
      store(finished(r.formula, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
  }
}

// parts[slice][result]
template <class T>
__device__ inline void reduce_columns(T* parts, const void* in, const ReduceArguments& r,
                                      T* shared) {
  constexpr int kAtOnce = 4;  // loads under way
  const int me = threadIdx.x, columns = r.columns, lane = me % columns, row = me / columns;
  const int rows = blockDim.x / columns;
  const i64 tiles = (r.kept.total + columns - 1) / columns;
  for (i64 b = blockIdx.x; b < tiles * r.slices; b += gridDim.x) {
    const i64 slice = quotient(b, tiles), i = (b - slice * tiles) * columns + lane;
    const i64 end = r.reduced.total * (slice + 1) / r.slices;
    const bool is_column = i < r.kept.total;
    const i64 from = is_column ? offset_at(r.kept, r.kept_in, i) : 0;
    T sum = start(r.formula, T{});
    i64 j = is_column ? r.reduced.total * slice / r.slices + row : end;
    for (; j + (kAtOnce - 1) * rows < end; j += kAtOnce * rows) {
      T values[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k)
        values[k] = taken(r, in, from + offset_at(r.reduced, r.reduced_in, j + k * rows), T{});
      for (int k = 0; k < kAtOnce; ++k) sum = joined(r.formula, sum, values[k]);
    }
    for (; j < end; j += rows)
      sum = joined(r.formula, sum, taken(r, in, from + offset_at(r.reduced, r.reduced_in, j), T{}));
    shared[me] = sum;
    __syncthreads();
    for (int width = rows / 2; width > 0; width /= 2) {  // a power of two rows
      if (row < width) shared[me] = joined(r.formula, shared[me], shared[me + width * columns]);
      __syncthreads();
    }
    if (row == 0 && is_column) parts[slice * r.kept.total + i] = shared[me];
    __syncthreads();
  }
}
template <class T>
__device__ inline void reduce_slices(void* out, const T* parts, const ReduceArguments& r) {
  for (i64 i = thread_number(); i < r.kept.total; i += num_threads()) {
    T sum = parts[i];
    for (i64 slice = 1; slice < r.slices; ++slice)
      sum = joined(r.formula, sum, parts[slice * r.kept.total + i]);
    store(finished(r.formula, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
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
SHW_KERNEL shw_reduce_columns_f64(void* parts, const void* in,
                                  shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double shared[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::reduce_columns(static_cast<double*>(parts), in, arguments, shared);
}
SHW_KERNEL shw_reduce_columns_i64(void* parts, const void* in,
                                  shw::runtime::cuda::ReduceArguments arguments) {
  using shw::runtime::cuda::Int;
  __shared__ Int shared[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::reduce_columns(static_cast<Int*>(parts), in, arguments, shared);
}
SHW_KERNEL shw_reduce_slices_f64(void* out, const void* parts,
                                 shw::runtime::cuda::ReduceArguments arguments) {
  shw::runtime::cuda::reduce_slices(out, static_cast<const double*>(parts), arguments);
}
SHW_KERNEL shw_reduce_slices_i64(void* out, const void* parts,
                                 shw::runtime::cuda::ReduceArguments arguments) {
  shw::runtime::cuda::reduce_slices(out, static_cast<const shw::runtime::cuda::Int*>(parts),
                                    arguments);
}
SHW_KERNEL shw_variance(void* out, const void* in, shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::variance(out, in, arguments, sums);
}
