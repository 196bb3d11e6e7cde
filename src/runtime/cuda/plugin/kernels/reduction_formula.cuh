// How the elements of a reduction are joined. Reals accumulate in f64, so that the order of the
// additions does not show in an f32 result, but for the least and the largest of f32 and narrower
// elements, which is one of them; integers wrap.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

__device__ inline double finished(const ReduceFormula& r, double sum) {
  return r.kind == ReduceKind::kMean ? sum / static_cast<double>(r.count) : sum;
}
__device__ inline float finished(const ReduceFormula&, float extreme) { return extreme; }
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
__device__ inline float start(const ReduceFormula& r, float) {
  return static_cast<float>(start(r, double{}));
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

template <class T>
__device__ inline T extreme_of(const ReduceFormula& r, T a, T b) {
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
template <int threads = 0, class T>
__device__ inline T block_joined(const ReduceFormula& r, T value, T* shared) {
  return across_block<threads>(value, shared, [&](T a, T b) { return joined(r, a, b); });
}

}  // namespace shw::runtime::cuda
