#include "solver/kernels.h"

#include <algorithm>
#include <limits>

namespace shw::solver {

SHW_MULTIVERSION void min_plus(const double* __restrict w, size_t rows, const double* __restrict m,
                               size_t cols, double* __restrict out) {
  for (size_t j = 0; j < cols; ++j) out[j] = w[0] + m[j];
  for (size_t s = 1; s < rows; ++s) {
    const double* __restrict row = m + s * cols;
    const double ws = w[s];
    for (size_t j = 0; j < cols; ++j) {
      const double t = ws + row[j];
      out[j] = t < out[j] ? t : out[j];
    }
  }
}

// In tiles, so that the lines written to stay in the cache until they are full.
void transpose(const double* m, size_t rows, size_t cols, size_t stride, double* out,
               size_t out_stride) {
  constexpr size_t kTile = 16;
  for (size_t i0 = 0; i0 < rows; i0 += kTile)
    for (size_t j0 = 0; j0 < cols; j0 += kTile) {
      const size_t i1 = std::min(i0 + kTile, rows), j1 = std::min(j0 + kTile, cols);
      for (size_t j = j0; j < j1; ++j)
        for (size_t i = i0; i < i1; ++i) out[j * out_stride + i] = m[i * stride + j];
    }
}

SHW_MULTIVERSION bool all_costs(const double* values, size_t n) {
  int64_t bad = 0;
  for (size_t i = 0; i < n; ++i)
    bad |= values[i] > -std::numeric_limits<double>::infinity() ? 0 : 1;
  return bad == 0;
}

SHW_MULTIVERSION bool all_finite(const double* values, size_t n) {
  int64_t bad = 0;
  for (size_t i = 0; i < n; ++i) bad |= values[i] < std::numeric_limits<double>::infinity() ? 0 : 1;
  return bad == 0;
}

}  // namespace shw::solver
