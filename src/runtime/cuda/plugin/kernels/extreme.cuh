// The largest or smallest element over some dims, and where the first of them stands: a block a
// result. NaN beats every number.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

__device__ inline bool is_nan(double x) { return x != x; }
__device__ inline bool is_nan(Int) { return false; }
__device__ inline bool is_less(double a, double b) { return a < b; }
__device__ inline bool is_less(Int a, Int b) { return a.v < b.v; }

template <class T>
struct Found {
  T value;
  i64 place;  // -1: nothing yet
};

template <class T>
__device__ inline bool beats(const ExtremeArguments& a, T x, T best) {
  if (is_nan(x) || is_nan(best)) return is_nan(x) && !is_nan(best);
  return a.largest != 0 ? is_less(best, x) : is_less(x, best);
}
// Of equals the first one.
template <class T>
__device__ inline Found<T> better(const ExtremeArguments& a, const Found<T>& x, const Found<T>& y) {
  if (x.place < 0 || y.place < 0) return x.place < 0 ? y : x;
  if (beats(a, x.value, y.value)) return x;
  if (beats(a, y.value, x.value)) return y;
  return x.place < y.place ? x : y;
}

template <class T>
__device__ inline void extreme(void* value, void* place, const void* in, const ExtremeArguments& a,
                               Found<T>* found) {
  const int me = threadIdx.x, threads = blockDim.x;
  for (i64 i = blockIdx.x; i < a.kept.total; i += gridDim.x) {
    const i64 from = offset_at(a.kept, a.kept_stride[0], i);
    Found<T> best = {T{}, -1};
    for (i64 j = me; j < a.searched.total; j += threads) {
      const i64 at = from + offset_at(a.searched, a.searched_stride, j);
      best = better(a, best, Found<T>{load<T>(in, at, a.dtype[0]), j});
    }
    found[me] = best;
    __syncthreads();
    for (int width = threads / 2; width > 0; width /= 2) {
      if (me < width) found[me] = better(a, found[me], found[me + width]);
      __syncthreads();
    }
    if (me == 0) {
      if (value != nullptr)
        store(found[0].value, value, offset_at(a.kept, a.kept_stride[1], i), a.dtype[1]);
      if (place != nullptr)
        store(Int{found[0].place}, place, offset_at(a.kept, a.kept_stride[2], i), a.dtype[2]);
    }
    __syncthreads();
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_extreme_f64(void* value, void* place, const void* in,
                           shw::runtime::cuda::ExtremeArguments arguments) {
  __shared__ shw::runtime::cuda::Found<double> found[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::extreme<double>(value, place, in, arguments, found);
}
SHW_KERNEL shw_extreme_i64(void* value, void* place, const void* in,
                           shw::runtime::cuda::ExtremeArguments arguments) {
  __shared__ shw::runtime::cuda::Found<shw::runtime::cuda::Int>
      found[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::extreme<shw::runtime::cuda::Int>(value, place, in, arguments, found);
}
