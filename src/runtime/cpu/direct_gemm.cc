#include "runtime/cpu/direct_gemm.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <algorithm>

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kVectorLanes = 16;  // of a vector
constexpr int64_t kTileRows = 8;      // of C; times two vectors: 16 sums, and registers are left
// Elements: A is read anew for each two vectors of columns, B for each eight rows.
constexpr int64_t kMostOfA = 1 << 16, kMostOfB = 1 << 17;
// Terms that are added one after another: the rounding of a sum grows with their number.
constexpr int64_t kMostTerms = 2048;

// Where a tile of C begins, and which lanes of its last vector of columns there are.
struct TilePlace {
  int64_t row, column;
  __mmask16 last;
};

// Its loops must be unrolled, or the sums are no registers.
template <int kRows, int kVectors>
[[gnu::target("avx512f")]] void do_tile(const Gemm<float>& g, const TilePlace& at) {
  const float* a = &g.a.at(at.row, 0);
  const float* b = &g.b.at(0, at.column);
  float* const c = &g.c.at(at.row, at.column);
  const int64_t a_row = g.a.row_stride, a_step = g.a.column_stride, b_step = g.b.row_stride,
                c_row = g.c.row_stride, k = g.k;
  const bool accumulate = g.accumulate;
  __mmask16 lanes[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) lanes[v] = v + 1 < kVectors ? __mmask16{0xffff} : at.last;
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      sums[r][v] = accumulate ? _mm512_maskz_loadu_ps(lanes[v], c + r * c_row + v * kVectorLanes)
                              : _mm512_setzero_ps();
  for (int64_t p = 0; p < k; ++p, a += a_step, b += b_step) {
    __m512 row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      row[v] = _mm512_maskz_loadu_ps(lanes[v], b + v * kVectorLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512 x = _mm512_set1_ps(a[r * a_row]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_fmadd_ps(x, row[v], sums[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      _mm512_mask_storeu_ps(c + r * c_row + v * kVectorLanes, lanes[v], sums[r][v]);
}

// All rows of the columns from at.column on that kVectors vectors hold.
template <int kVectors>
void do_columns(const Gemm<float>& g, TilePlace at) {
  for (; at.row + kTileRows <= g.m; at.row += kTileRows) do_tile<kTileRows, kVectors>(g, at);
  if (at.row + 4 <= g.m) {
    do_tile<4, kVectors>(g, at);
    at.row += 4;
  }
  for (; at.row < g.m; ++at.row) do_tile<1, kVectors>(g, at);
}

}  // namespace

bool direct_gemm(const Gemm<float>& g) {
  if (g.b.column_stride != 1 || g.k == 0 || g.k > kMostTerms || g.m * g.k > kMostOfA ||
      g.k * g.n > kMostOfB || !__builtin_cpu_supports("avx512f"))
    return false;
  for (int64_t j = 0; j < g.n; j += 2 * kVectorLanes) {
    const int64_t left = std::min(g.n - j, 2 * kVectorLanes);
    const int64_t in_last = left > kVectorLanes ? left - kVectorLanes : left;
    const TilePlace at{0, j, static_cast<__mmask16>((1U << in_last) - 1)};
    if (left > kVectorLanes)
      do_columns<2>(g, at);
    else
      do_columns<1>(g, at);
  }
  return true;
}

}  // namespace shw::runtime::cpu

#else

namespace shw::runtime::cpu {

bool direct_gemm(const Gemm<float>&) { return false; }

}  // namespace shw::runtime::cpu

#endif
