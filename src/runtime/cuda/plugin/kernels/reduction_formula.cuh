// How the elements of a reduction are joined. Reals accumulate in f64, so that the order of the
// additions does not show in an f32 result; integers wrap.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

__device__ inline double finished(const ReduceFormula& r, double sum) {
  return r.kind == ReduceKind::kMean ? sum / static_cast<double>(r.count) : sum;
}
__device__ inline Int finished(const ReduceFormula&, Int sum) { return sum; }

// What a result begins with.
__device__ inline double start(const ReduceFormula& r, double) {
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
__device__ inline Int start(const ReduceFormula& r, Int) {
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

__device__ inline double extreme_of(const ReduceFormula& r, double a, double b) {
  if (a != a || b != b) return a != a ? a : b;  // NaN where either is
  return (a < b) == (r.kind == ReduceKind::kMax) ? b : a;
}
__device__ inline Int extreme_of(const ReduceFormula& r, Int a, Int b) {
  if (r.kind == ReduceKind::kAny) return {a.v | b.v};
  if (r.kind == ReduceKind::kAll) return {a.v & b.v};
  return (a.v < b.v) == (r.kind == ReduceKind::kMax) ? b : a;
}
template <class T>
__device__ inline T joined(const ReduceFormula& r, T a, T b) {
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

// What the threads of a block have joined, joined; all of them call it and get the result.
template <class T>
__device__ inline T block_joined(const ReduceFormula& r, T value, T* shared) {
  const int me = threadIdx.x;
  shared[me] = value;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2) {  // a power of two threads
    if (me < width) shared[me] = joined(r, shared[me], shared[me + width]);
    __syncthreads();
  }
  const T result = shared[0];
  __syncthreads();
  return result;
}

}  // namespace shw::runtime::cuda
