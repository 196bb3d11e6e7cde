// Products of matrices whose elements functions give: a block computes a tile of the result, with
// slabs of both operands in its shared memory and a square of the tile in each thread's registers.
// Terms are added in their order. It multiplies what cuBLASLt does not: groups whose sizes only the
// device knows, and patches of images.
#pragma once
#include "math.cuh"

// Sums stay in registers only where the loops over them are gone.
#ifdef __CUDACC__
#define SHW_UNROLL _Pragma("unroll")
#else
#define SHW_UNROLL
#endif

namespace shw::runtime::cuda {

constexpr int kProductSlab = 16;   // terms that are in shared memory at a time
constexpr int kProductSquare = 4;  // results of a thread, by rows and by columns
constexpr int kProductSide = kProductTile / kProductSquare;  // threads of a block, likewise
static_assert(kProductSide * kProductSide == kProductThreads, "a thread for each square");

template <class T>
struct ProductSlabs {
  // One element more than a row has, so that threads that write a column use different banks.
  T left[kProductSlab][kProductTile + 1], right[kProductSlab][kProductTile + 1];
};

struct ProductSize {
  i64 rows, columns, depth;
};

// The tile whose first element is (row, column). left(row, term) and right(term, column) are asked
// only for elements that there are; result(row, column, sum) takes each sum of the tile.
template <class T, class Left, class Right, class Result>
__device__ inline void product_tile(const ProductSize& size, i64 row, i64 column, const Left& left,
                                    const Right& right, const Result& result,
                                    ProductSlabs<T>& slabs) {
  const int me = threadIdx.x, my_row = me / kProductSide, my_column = me % kProductSide;
  T sums[kProductSquare][kProductSquare] = {};
  for (i64 first = 0; first < size.depth; first += kProductSlab) {
    for (int i = me; i < kProductSlab * kProductTile; i += kProductThreads) {
      const int r = i / kProductSlab, term = i % kProductSlab;
      const bool there = row + r < size.rows && first + term < size.depth;
      slabs.left[term][r] = there ? left(row + r, first + term) : T{0};
    }
    for (int i = me; i < kProductSlab * kProductTile; i += kProductThreads) {
      const int term = i / kProductTile, c = i % kProductTile;
      const bool there = column + c < size.columns && first + term < size.depth;
      slabs.right[term][c] = there ? right(first + term, column + c) : T{0};
    }
    __syncthreads();
    // Behind the last term both operands are zero.
    for (int term = 0; term < kProductSlab; ++term)
      SHW_UNROLL for (int r = 0; r < kProductSquare; ++r) {
        SHW_UNROLL for (int c = 0; c < kProductSquare; ++c) {
          sums[r][c] = sums[r][c] + slabs.left[term][my_row + r * kProductSide] *
                                        slabs.right[term][my_column + c * kProductSide];
        }
      }
    __syncthreads();
  }
  SHW_UNROLL for (int r = 0; r < kProductSquare; ++r) {
    SHW_UNROLL for (int c = 0; c < kProductSquare; ++c) {
      const i64 to_row = row + my_row + r * kProductSide,
                to_column = column + my_column + c * kProductSide;
      if (to_row < size.rows && to_column < size.columns) result(to_row, to_column, sums[r][c]);
    }
  }
}

__device__ inline i64 product_tiles(i64 elements) {
  return (elements + kProductTile - 1) / kProductTile;
}

}  // namespace shw::runtime::cuda
