// Reductions whose results lie side by side in memory: a block takes the columns of some results
// and a slice of their rows; what the slices gave is then taken together in the same way.
#pragma once
#include "reduction_formula.cuh"
#include "vector.cuh"

namespace shw::runtime::cuda {

// Sums of E, N at a time where they lie: parts[slice][result]. A block has memory for N sums of
// each of its threads. In its threads, lanes of one row have columns that are N elements apart.
template <class E, int N, class Wide>
__device__ inline void sum_column_packs(double* parts, const void* in, const ReduceArguments& r,
                                        double* shared, const Wide& wide) {
  constexpr int kAtOnce = 16 / N;  // loads under way
  const int me = threadIdx.x, threads = blockDim.x, columns = r.columns, lane = me % columns,
            row = me / columns, rows = threads / columns;
  const i64 packs = r.kept.total / N, tiles = (packs + columns - 1) / columns;
  const i64 step = r.reduced_in[0];
  for (i64 b = blockIdx.x; b < tiles * r.slices; b += gridDim.x) {
    const i64 slice = quotient(b, tiles), first = (b - slice * tiles) * columns;
    const bool is_column = first + lane < packs;
    const i64 end = r.reduced.total * (slice + 1) / r.slices;
    i64 j = is_column ? r.reduced.total * slice / r.slices + row : end;
    const char* from = static_cast<const char*>(in);
    if (is_column) from += offset_at(r.kept, r.kept_in, (first + lane) * N);
    double sums[N] = {};
    for (; j + (kAtOnce - 1) * rows < end; j += kAtOnce * rows) {
      Vector<E, N> some[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k) some[k] = vector_at<E, N>(from + (j + k * rows) * step, 0);
      for (int k = 0; k < kAtOnce; ++k)
        for (int n = 0; n < N; ++n) sums[n] += wide(some[k].at[n]);
    }
    for (; j < end; j += rows) {
      const auto one = vector_at<E, N>(from + j * step, 0);
      for (int n = 0; n < N; ++n) sums[n] += wide(one.at[n]);
    }
    for (int n = 0; n < N; ++n) shared[n * threads + me] = sums[n];
    __syncthreads();
    for (int i = me; i < columns * N; i += threads) {  // result i of the block
      const double* of_rows = shared + i % N * threads + i / N;
      double sum = of_rows[0];
      for (int k = 1; k < rows; ++k) sum += of_rows[k * columns];
      if (first + i / N < packs) parts[slice * r.kept.total + first * N + i] = sum;
    }
    __syncthreads();
  }
}
__device__ inline void sum_column_packs(double* parts, const void* in, const ReduceArguments& r,
                                        double* shared) {
  switch (r.in_dtype) {
    case kDeviceF32:
      return sum_column_packs<float, 4>(parts, in, r, shared,
                                        [](float x) { return static_cast<double>(x); });
    case kDeviceF16:
      return sum_column_packs<unsigned short, 8>(parts, in, r, shared, [](unsigned short x) {
        return static_cast<double>(wider_half(x));
      });
    default:
      return sum_column_packs<unsigned short, 8>(parts, in, r, shared, [](unsigned short x) {
        return static_cast<double>(wider_bfloat(x));
      });
  }
}

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

// The values that the rows of a block have for a column, taken together: all its threads call it
// and those of row 0 get them.
template <class T>
__device__ inline T joined_rows(const ReduceFormula& f, T value, int columns, T* shared) {
  const int me = threadIdx.x;
  shared[me] = value;
  __syncthreads();
  for (int width = blockDim.x / columns / 2; width > 0; width /= 2) {  // a power of two rows
    if (me / columns < width) shared[me] = joined(f, shared[me], shared[me + width * columns]);
    __syncthreads();
  }
  const T result = shared[me];
  __syncthreads();
  return result;
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
    sum = joined_rows(r.formula, sum, columns, shared);
    if (row == 0 && is_column) parts[slice * r.kept.total + i] = sum;
  }
}
template <class T>
__device__ inline void reduce_slices(void* out, const T* parts, const ReduceArguments& r,
                                     T* shared) {
  const int columns = r.columns, lane = threadIdx.x % columns, row = threadIdx.x / columns;
  const int rows = blockDim.x / columns;
  for (i64 first = blockIdx.x * static_cast<i64>(columns); first < r.kept.total;
       first += gridDim.x * static_cast<i64>(columns)) {
    const i64 i = first + lane;
    const bool is_column = i < r.kept.total;
    T sum = start(r.formula, T{});
    for (i64 slice = is_column ? row : r.slices; slice < r.slices; slice += rows)
      sum = joined(r.formula, sum, parts[slice * r.kept.total + i]);
    sum = joined_rows(r.formula, sum, columns, shared);
    if (row == 0 && is_column)
      store(finished(r.formula, sum), out, offset_at(r.kept, r.kept_out, i), r.out_dtype);
  }
}

}  // namespace shw::runtime::cuda
