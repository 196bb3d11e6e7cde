// The innermost loop of f32 products with AVX-512: a tile of C whose sums stay in registers.
#pragma once
#if defined(__x86_64__) && defined(__GNUC__)
#define SHW_HAVE_GEMM_TILE 1

#include <immintrin.h>

#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

inline constexpr int64_t kVectorLanes = 16;                // of a vector
inline constexpr int64_t kTileColumns = 2 * kVectorLanes;  // of a tile, at most

// Whether the machine has the vectors.
inline bool has_gemm_tile() { return __builtin_cpu_supports("avx512f"); }

// Where a tile of C begins, and which lanes of its last vector of columns there are.
struct TilePlace {
  int64_t row, column;
  __mmask16 last;
};

// The lanes of the last vector of `columns`, which are more than none.
inline __mmask16 lanes_of_last(int64_t columns) {
  return static_cast<__mmask16>((2U << ((columns - 1) % kVectorLanes)) - 1);
}

// kRows rows times kVectors vectors of C. Terms are added in the order of their number. The rows of
// B have no gaps.
//
// kPackedRows = 0: A and B lie in the caches, in any distances. C's old value is the first term.
// Else they lie as `packed_gemm` packs them: distances are constants, which takes 8 % less time,
// and what comes next of B is fetched. C is fetched as well, and its old value is the last term, as
// it need not be there before then.
//
// Its loops must be unrolled, or the sums are no registers.
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
      // A mask costs 3 % of the time. Packed rows are whole.
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

// All rows of the `width` columns from `column` on, at most kTileColumns: kRows rows at a time, and
// fewer at last.
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
