#include "runtime/cpu/packed_gemm.h"

#include <algorithm>

#include "runtime/cpu/gemm_tile.h"
#include "runtime/transpose.h"

namespace shw::runtime::cpu {

#ifdef SHW_HAVE_GEMM_TILE

namespace {

// Rows of a tile: 24 sums, which leaves registers free. A multiple of 4, as `transpose` works in
// blocks of 4.
constexpr int64_t kPanelRows = 12;
// A panel of A (12 rows) has 12 KiB and one of B 32 KiB. The blocks of both have 168 and 512 KiB,
// and fit in the second-level cache of any machine with AVX-512 (1 MiB and more).
constexpr int64_t kPackedRows = 14 * kPanelRows, kPackedColumns = 16 * kTileColumns;

constexpr int64_t whole_tiles(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

struct PackedSizes {
  int64_t rows, columns, depth;  // rows and columns are rounded up to whole tiles
  int64_t of_a() const { return rows * depth; }
  int64_t of_b() const { return depth * columns; }
};
PackedSizes packed_sizes(const Gemm<float>& g) {
  return {whole_tiles(std::min(g.m, kPackedRows), kPanelRows),
          whole_tiles(std::min(g.n, kPackedColumns), kTileColumns), std::min(g.k, kPackedDepth)};
}

// Packs A in panels of kPanelRows rows, column by column within a panel. Lanes beyond the last row
// are not written.
[[gnu::target("avx512f")]] void pack_rows(float* to, const Matrix<const float>& a, int64_t rows,
                                          int64_t depth) {
  if (a.row_stride != 1) {
    for (int64_t i = 0; i < rows; i += kPanelRows)
      transpose(reinterpret_cast<uint32_t*>(to + i * depth), kPanelRows,
                reinterpret_cast<const uint32_t*>(&a.at(i, 0)), a.row_stride,
                std::min(kPanelRows, rows - i), depth);
    return;
  }
  // Each column is read once, from beginning to end.
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t i = 0; i < rows; i += kPanelRows) {
      const __mmask16 there = lanes_of_last(std::min(kPanelRows, rows - i));
      _mm512_mask_storeu_ps(to + i * depth + p * kPanelRows, there,
                            _mm512_maskz_loadu_ps(there, &a.at(i, p)));
    }
}

// Packs B in panels of kTileColumns columns, row by row within a panel, with zeros beyond the last
// column.
[[gnu::target("avx512f")]] void pack_columns(float* to, const Matrix<const float>& b, int64_t depth,
                                             int64_t columns) {
  for (int64_t j = 0; j < columns; j += kTileColumns, to += depth * kTileColumns) {
    const int64_t width = std::min(kTileColumns, columns - j);
    if (b.column_stride != 1) {
      if (width < kTileColumns) std::fill_n(to, depth * kTileColumns, 0.0f);
      transpose(reinterpret_cast<uint32_t*>(to), kTileColumns,
                reinterpret_cast<const uint32_t*>(&b.at(0, j)), b.column_stride, width, depth);
      continue;
    }
    const uint32_t there = width < kTileColumns ? (1U << width) - 1 : ~0U;
    const auto first = static_cast<__mmask16>(there), second = static_cast<__mmask16>(there >> 16);
    for (int64_t p = 0; p < depth; ++p) {
      const float* const from = &b.at(p, j);
      float* const row = to + p * kTileColumns;
      _mm512_storeu_ps(row, _mm512_maskz_loadu_ps(first, from));
      _mm512_storeu_ps(row + kVectorLanes, _mm512_maskz_loadu_ps(second, from + kVectorLanes));
    }
  }
}

// `block` gives the sizes, C, and whether to accumulate; a and b are packed.
void multiply_block(const Gemm<float>& block, const float* a, const float* b) {
  for (int64_t i = 0; i < block.m; i += kPanelRows)
    for (int64_t j = 0; j < block.n; j += kTileColumns) {
      const int64_t width = std::min(kTileColumns, block.n - j);
      const Gemm<float> panel{std::min(kPanelRows, block.m - i),
                              width,
                              block.k,
                              {a + i * block.k, 1, kPanelRows},
                              {b + j * block.k, kTileColumns, 1},
                              {&block.c.at(i, j), block.c.row_stride, 1},
                              block.accumulate};
      do_columns<kPanelRows, kPanelRows>(panel, 0, width);
    }
}

}  // namespace

int64_t packed_gemm_scratch(const Gemm<float>& g) {
  const auto gapless = [](const Matrix<const float>& x) {
    return x.row_stride == 1 || x.column_stride == 1;
  };
  if (!gapless(g.a) || !gapless(g.b) || g.m < kPanelRows || g.n < kTileColumns || g.k == 0 ||
      !has_gemm_tile())
    return 0;
  const PackedSizes block = packed_sizes(g);
  return block.of_a() + block.of_b();
}

void packed_gemm(const Gemm<float>& g) {
  const PackedSizes size = packed_sizes(g);
  float* const packed_b = g.scratch;
  float* const packed_a = g.scratch + size.of_b();
  for (int64_t j = 0; j < g.n; j += size.columns)
    for (int64_t p = 0; p < g.k; p += size.depth) {
      Gemm<float> block = g;
      block.n = std::min(size.columns, g.n - j);
      block.k = std::min(size.depth, g.k - p);
      block.accumulate = g.accumulate || p > 0;
      pack_columns(packed_b, {&g.b.at(p, j), g.b.row_stride, g.b.column_stride}, block.k, block.n);
      for (int64_t i = 0; i < g.m; i += size.rows) {
        block.m = std::min(size.rows, g.m - i);
        block.c.data = &g.c.at(i, j);
        pack_rows(packed_a, {&g.a.at(i, p), g.a.row_stride, g.a.column_stride}, block.m, block.k);
        multiply_block(block, packed_a, packed_b);
      }
    }
}

#else

int64_t packed_gemm_scratch(const Gemm<float>&) { return 0; }
void packed_gemm(const Gemm<float>&) {}

#endif

}  // namespace shw::runtime::cpu
