// Matrix product in plain loops: for any element type, any strides, any machine. Panels of A and B
// are packed so that the inner loop runs over contiguous memory that fits the caches, after Goto
// and van de Geijn's scheme with fixed block sizes.
#pragma once
#include <algorithm>
#include <cstdint>

namespace shw::runtime::cpu {

template <class T>
struct Matrix {
  T* data;
  int64_t row_stride, column_stride;  // in elements
  T& at(int64_t r, int64_t c) const { return data[r * row_stride + c * column_stride]; }
};

// C = A·B, or C + A·B; [m,k] × [k,n]. C's columns are contiguous (column_stride 1).
template <class T>
struct Gemm {
  int64_t m, n, k;
  Matrix<const T> a, b;
  Matrix<T> c;
  bool accumulate = false;
  T* scratch = nullptr;  // gemm_scratch() elements, or null
};

// A block is kGemmRows rows of A times a panel of kGemmDepth × kGemmColumns of B. The panel has 32
// KiB for 4-byte elements.
inline constexpr int64_t kGemmRows = 4, kGemmColumns = 64, kGemmDepth = 128;

template <class T>
void plain_gemm(const Gemm<T>& g) {
  if (!g.accumulate || g.k == 0)
    for (int64_t i = 0; !g.accumulate && i < g.m; ++i) std::fill_n(&g.c.at(i, 0), g.n, T{});
  T panel[kGemmDepth * kGemmColumns];
  T strip[kGemmRows * kGemmDepth];
  for (int64_t j0 = 0; j0 < g.n; j0 += kGemmColumns) {
    const int64_t columns = std::min(kGemmColumns, g.n - j0);
    for (int64_t k0 = 0; k0 < g.k; k0 += kGemmDepth) {
      const int64_t depth = std::min(kGemmDepth, g.k - k0);
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t j = 0; j < kGemmColumns; ++j)
          panel[p * kGemmColumns + j] = j < columns ? g.b.at(k0 + p, j0 + j) : T{};
      for (int64_t i0 = 0; i0 < g.m; i0 += kGemmRows) {
        const int64_t rows = std::min(kGemmRows, g.m - i0);
        for (int64_t i = 0; i < kGemmRows; ++i)
          for (int64_t p = 0; p < depth; ++p)
            strip[i * kGemmDepth + p] = i < rows ? g.a.at(i0 + i, k0 + p) : T{};
        T sum[kGemmRows][kGemmColumns] = {};
        for (int64_t p = 0; p < depth; ++p)
          for (int64_t i = 0; i < kGemmRows; ++i) {
            const T x = strip[i * kGemmDepth + p];
            for (int64_t j = 0; j < kGemmColumns; ++j)
              sum[i][j] = sum[i][j] + x * panel[p * kGemmColumns + j];
          }
        for (int64_t i = 0; i < rows; ++i) {
          T* row = &g.c.at(i0 + i, j0);
          for (int64_t j = 0; j < columns; ++j) row[j] = row[j] + sum[i][j];
        }
      }
    }
  }
}

}  // namespace shw::runtime::cpu
