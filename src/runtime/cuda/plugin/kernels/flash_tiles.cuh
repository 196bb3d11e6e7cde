// Tiles of 16-bit operands in shared memory, and the products of attention on them. A block has
// four warps; each owns `kRowTiles` times 16 rows of the result.
//
// The way is that of FlashAttention-2 (Dao 2023): scores of a tile never leave registers, and what
// a warp holds as the result of one product is the left operand of the next.
#pragma once
#include "attention_parts.cuh"
#include "warp.cuh"

namespace shw::runtime::cuda {

constexpr int kFlashWarps = kFlashThreads / kWarpThreads;
constexpr int kChunk = 8;  // elements that are copied at a time: 16 bytes

// kRows × kWidth elements. Chunks of a row are exchanged by the row's number, so that the same
// chunk of eight rows lies in eight different banks.
template <int kRows, int kWidth>
struct alignas(128) FlashTile {
  static constexpr int kChunks = kWidth / kChunk;
  unsigned short at[kRows * kWidth];

  __device__ unsigned short* chunk(int row, int c) {
    return at + row * kWidth + (c ^ (row & 7)) * kChunk;
  }
};

// Begins to copy the rows from `first` on; zeros beyond `rows` rows and `width` columns.
template <int kRows, int kWidth>
__device__ inline void begin_tile(FlashTile<kRows, kWidth>& tile, const void* base, i64 row_stride,
                                  i64 first, i64 rows, i64 width) {
  constexpr int kChunks = FlashTile<kRows, kWidth>::kChunks;
  SHW_UNROLL_BY(1)
  for (int i = threadIdx.x; i < kRows * kChunks; i += kFlashThreads) {
    const int row = i / kChunks, c = i % kChunks;
    const bool is_there = first + row < rows && c * kChunk < width;
    const char* from = static_cast<const char*>(base);
    if (is_there) from += (first + row) * row_stride + c * kChunk * 2;
    begin_copy(tile.chunk(row, c), from, is_there);
  }
}

__device__ inline int lane() { return threadIdx.x % kWarpThreads; }

// 16 × 16 elements as a left operand.
template <int kRows, int kWidth>
__device__ inline void load_left(unsigned (&a)[4], FlashTile<kRows, kWidth>& tile, int row,
                                 int column) {
  const int l = lane(), matrix = l / 8;
  load_matrices(a, tile.chunk(row + matrix % 2 * 8 + l % 8, column / 8 + matrix / 2));
}
// Rows row … row + 15 are columns of two right operands, b[0] and b[1], b[2] and b[3].
template <int kRows, int kWidth>
__device__ inline void load_right_rows(unsigned (&b)[4], FlashTile<kRows, kWidth>& tile, int row,
                                       int column) {
  const int l = lane(), matrix = l / 8;
  load_matrices(b, tile.chunk(row + matrix / 2 * 8 + l % 8, column / 8 + matrix % 2));
}
// Columns column … column + 15 are columns of two right operands.
template <int kRows, int kWidth>
__device__ inline void load_right_columns(unsigned (&b)[4], FlashTile<kRows, kWidth>& tile, int row,
                                          int column) {
  const int l = lane(), matrix = l / 8;
  load_transposed(b, tile.chunk(row + matrix % 2 * 8 + l % 8, column / 8 + matrix / 2));
}

// How far rows_by_rows is unrolled: as far as all kernels of flash.cuh keep within 255 registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int kUnrolledTall = 4;
#else
constexpr int kUnrolledTall = 8;
#endif

// c = rows of `left` from `row` on, times rows of `right`.
template <class E, int kRowTiles, int kColumnTiles, int kLeftRows, int kWidth>
__device__ inline void rows_by_rows(float (&c)[kRowTiles][kColumnTiles][4],
                                    FlashTile<kLeftRows, kWidth>& left, int row,
                                    FlashTile<kColumnTiles * 8, kWidth>& right) {
  [[maybe_unused]] constexpr int kUnrolled =
      kRowTiles > 1 ? (kColumnTiles > 4 ? kUnrolledTall : 2) : 4;
  for (int m = 0; m < kRowTiles; ++m)
    for (int n = 0; n < kColumnTiles; ++n)
      for (int i = 0; i < 4; ++i) c[m][n][i] = 0;
  SHW_UNROLL_BY(kUnrolled)
  for (int k = 0; k < kWidth; k += 16) {
    unsigned a[kRowTiles][4];
    SHW_UNROLL
    for (int m = 0; m < kRowTiles; ++m) load_left(a[m], left, row + m * 16, k);
    SHW_UNROLL
    for (int n = 0; n < kColumnTiles; n += 2) {
      unsigned b[4];
      load_right_rows(b, right, n * 8, k);
      SHW_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        E::multiply_add(c[m][n], a[m], b[0], b[1]);
        E::multiply_add(c[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// c += weights, rounded to E, times the rows of `right`.
template <class E, int kRowTiles, int kInnerTiles, int kWidth>
__device__ inline void weighted_rows(float (&c)[kRowTiles][kWidth / 8][4],
                                     const float (&weight)[kRowTiles][kInnerTiles][4],
                                     FlashTile<kInnerTiles * 8, kWidth>& right) {
  SHW_UNROLL
  for (int k = 0; k < kInnerTiles; k += 2) {
    unsigned a[kRowTiles][4];
    SHW_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SHW_UNROLL
      for (int i = 0; i < 4; ++i)
        a[m][i] = E::pack(weight[m][k + i / 2][i % 2 * 2], weight[m][k + i / 2][i % 2 * 2 + 1]);
    }
    SHW_UNROLL
    for (int n = 0; n < kWidth / 8; n += 2) {
      unsigned b[4];
      load_right_columns(b, right, k * 8, n * 8);
      SHW_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        E::multiply_add(c[m][n], a[m], b[0], b[1]);
        E::multiply_add(c[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// Row and column of element i of a result's tile.
__device__ inline int row_in_tile(int i) { return lane() / 4 + i / 2 * 8; }
__device__ inline int column_in_tile(int i) { return lane() % 4 * 2 + i % 2; }

// Over the four lanes that share a row.
__device__ inline float sum_of_row(float x) {
  x = x + from_lane_beside(x, 1);
  return x + from_lane_beside(x, 2);
}
__device__ inline float max_of_row(float x) {
  x = fmaxf(x, from_lane_beside(x, 1));
  return fmaxf(x, from_lane_beside(x, 2));
}

// Stores kWidth columns of 16 rows from `row` on, times `factor`, up to `rows` and `width`.
template <class E, int kTiles>
__device__ inline void store_rows(const float (&c)[kTiles][4], float factor_0, float factor_1,
                                  void* out, i64 row_stride, i64 row, i64 rows, i64 width) {
  SHW_UNROLL
  for (int half = 0; half < 2; ++half) {
    const i64 at = row + row_in_tile(half * 2);
    if (at >= rows) continue;
    const float factor = half == 0 ? factor_0 : factor_1;
    char* to = static_cast<char*>(out) + at * row_stride;
    SHW_UNROLL
    for (int n = 0; n < kTiles; ++n) {
      const int column = n * 8 + column_in_tile(0);
      if (column < width)
        put(to + column * 2, E::pack(c[n][half * 2] * factor, c[n][half * 2 + 1] * factor));
    }
  }
}

}  // namespace shw::runtime::cuda
