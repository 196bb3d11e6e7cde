// The innermost loop of f32 products with AVX-512: a tile of C whose sums stay in registers.
#pragma once
#if defined(__x86_64__) && defined(__GNUC__)
#define SHW_HAVE_GEMM_TILE 1

#include <immintrin.h>

#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

inline constexpr int64_t kVectorLanes = 16;                // floats per vector
inline constexpr int64_t kTileColumns = 2 * kVectorLanes;  // maximum columns per tile

// Whether the processor has AVX-512.
inline bool has_gemm_tile() { return __builtin_cpu_supports("avx512f"); }

// The first row and column of a tile of C, and the mask of its last vector of columns.
struct TilePlace {
  int64_t row, column;
  __mmask16 last;
};

// The mask of the last vector of `columns` > 0 columns.
inline __mmask16 lanes_of_last(int64_t columns) {
  return static_cast<__mmask16>((2U << ((columns - 1) % kVectorLanes)) - 1);
}

// Computes a tile of kRows rows and kVectors vectors of C. Terms are added in order. The rows of B
// must have no gaps.
//
// kPackedRows = 0: A and B are in the caches, with any strides. The old value of C is the first
// term. kPackedRows > 0: A and B are packed by `packed_gemm`. Their strides are then constants,
// which saves 8 % of the time, and the next part of B is prefetched. C is prefetched as well; its
// old value is the last term, so that it need not have arrived earlier.
//
// The compiler must unroll the loops; otherwise the sums are not kept in registers.
template <int kRows, int kVectors, int kPackedRows = 0>
[[gnu::target("avx512f")]] void do_tile(const Gemm<float>& g, const TilePlace& at) {
  constexpr bool kPacked = kPackedRows > 0;
  constexpr int64_t kFetchedAhead = 8;
  const float* a = &g.a.at(at.row, 0);
  const float* b = &g.b.at(0, at.column);
  float* const c = &g.c.at(at.row, at.column);
  const int64_t a_row = kPacked ? 1 : g.a.row_stride,
                a_step = kPacked ? kPackedRows : g.a.column_stride,
                b_step = kPacked ? kTileColumns : g.b.row_stride, c_row = g.c.row_stride, k = g.k;
  const bool begin_with_c = g.accumulate && !kPacked, end_with_c = g.accumulate && kPacked;
  __mmask16 lanes[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) lanes[v] = v + 1 < kVectors ? __mmask16{0xffff} : at.last;
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      float* const old = c + r * c_row + v * kVectorLanes;
      if constexpr (kPacked) _mm_prefetch(old, _MM_HINT_T0);
      sums[r][v] = begin_with_c ? _mm512_maskz_loadu_ps(lanes[v], old) : _mm512_setzero_ps();
    }
  for (int64_t p = 0; p < k; ++p, a += a_step, b += b_step) {
    __m512 row[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const float* const at_v = b + v * kVectorLanes;
      if constexpr (kPacked) _mm_prefetch(at_v + kFetchedAhead * kTileColumns, _MM_HINT_T0);
      // Masked loads take 3 % more time. Packed rows are padded to whole vectors.
      row[v] = kPacked ? _mm512_loadu_ps(at_v) : _mm512_maskz_loadu_ps(lanes[v], at_v);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512 x = _mm512_set1_ps(a[r * a_row]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_fmadd_ps(x, row[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      float* const to = c + r * c_row + v * kVectorLanes;
      if (end_with_c) sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_maskz_loadu_ps(lanes[v], to));
      _mm512_mask_storeu_ps(to, lanes[v], sums[r][v]);
    }
}

// Computes all rows of the `width` ≤ kTileColumns columns from `column` on, in tiles of kRows rows,
// then 4 rows, then single rows.
template <int kRows, int kVectors, int kPackedRows>
void do_rows(const Gemm<float>& g, TilePlace at) {
  for (; at.row + kRows <= g.m; at.row += kRows) do_tile<kRows, kVectors, kPackedRows>(g, at);
  for (; at.row + 4 <= g.m; at.row += 4) do_tile<4, kVectors, kPackedRows>(g, at);
  for (; at.row < g.m; ++at.row) do_tile<1, kVectors, kPackedRows>(g, at);
}
template <int kRows, int kPackedRows = 0>
void do_columns(const Gemm<float>& g, int64_t column, int64_t width) {
  const TilePlace at{0, column, lanes_of_last(width)};
  if (width > kVectorLanes)
    do_rows<kRows, 2, kPackedRows>(g, at);
  else
    do_rows<kRows, 1, kPackedRows>(g, at);
}

}  // namespace shw::runtime::cpu
#endif
