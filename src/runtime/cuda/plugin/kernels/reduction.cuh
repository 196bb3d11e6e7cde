// Sums, products, extremes, truth and variances over some dims. Three ways: a thread a result,
// where few elements make one; where neighbouring results lie side by side, a block for the columns
// of some results and a slice of their rows, and then a thread a result for what the slices gave;
// else a block a result. The order is fixed.
#pragma once
#include "columns.cuh"

namespace shw::runtime::cuda {

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
SHW_KERNEL __launch_bounds__(shw::runtime::cuda::kMostBlockThreads, 4)
    shw_reduce_column_packs(void* parts, const void* in,
                            shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double shared[8 * shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::sum_column_packs(static_cast<double*>(parts), in, arguments, shared);
}
SHW_KERNEL shw_reduce_slices_f64(void* out, const void* parts,
                                 shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double shared[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::reduce_slices(out, static_cast<const double*>(parts), arguments, shared);
}
SHW_KERNEL shw_reduce_slices_i64(void* out, const void* parts,
                                 shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ shw::runtime::cuda::Int shared[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::reduce_slices(out, static_cast<const shw::runtime::cuda::Int*>(parts),
                                    arguments, shared);
}
SHW_KERNEL shw_variance(void* out, const void* in, shw::runtime::cuda::ReduceArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::variance(out, in, arguments, sums);
}
