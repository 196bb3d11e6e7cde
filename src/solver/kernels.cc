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

SHW_MULTIVERSION void lower_by_rows(const double* const row[4], const double w[4], size_t cols,
                                    double* __restrict out) {
  const double* __restrict r0 = row[0], * __restrict r1 = row[1], * __restrict r2 = row[2], * __restrict r3 = row[3];
  const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
  for (size_t j = 0; j < cols; ++j) {
    const double a = w0 + r0[j], b = w1 + r1[j], c = w2 + r2[j], d = w3 + r3[j];
    const double ab = a < b ? a : b, cd = c < d ? c : d, least = ab < cd ? ab : cd;
    out[j] = least < out[j] ? least : out[j];
  }
}

SHW_MULTIVERSION void min_plus_rows(const double* __restrict m, size_t rows, size_t cols,
                                    const double* __restrict w, const double* __restrict skip,
                                    double* __restrict out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < rows; ++i) {
    out[i] = 0;
    if (skip[i] == kInfinity) continue;
    const double* __restrict row = m + i * cols;
    double least[kWide];
    for (double& l : least) l = kInfinity;
    size_t j = 0;
    for (; j + kWide <= cols; j += kWide)
      for (size_t l = 0; l < kWide; ++l) {
        const double t = w[j + l] + row[j + l];
        least[l] = t < least[l] ? t : least[l];
      }
    for (; j < cols; ++j) least[0] = std::min(least[0], w[j] + row[j]);
    out[i] = *std::min_element(least, least + kWide);
  }
}

// Works in tiles, so that the written cache lines stay in the cache until they are full.
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

SHW_MULTIVERSION void add_scaled(double* __restrict sum, const double* __restrict row, double by,
                                 size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += by * row[i];
}

SHW_MULTIVERSION double dot(const double* __restrict a, const double* __restrict b, size_t n) {
  double sum[kWide] = {};
  for (size_t i = 0; i < n; i += kWide)
    for (size_t j = 0; j < kWide; ++j) sum[j] += a[i + j] * b[i + j];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

SHW_MULTIVERSION Derivatives positive_part(const double* __restrict sum,
                                           const double* __restrict change, double t, size_t n) {
  double first[kWide] = {}, second[kWide] = {};
  for (size_t i = 0; i < n; i += kWide)
    for (size_t j = 0; j < kWide; ++j) {
      const double price = sum[i + j] + t * change[i + j];
      const double pays = price > 0 ? change[i + j] : 0;
      first[j] += pays * price;
      second[j] += pays * pays;
    }
  for (size_t j = 1; j < kWide; ++j) first[0] += first[j], second[0] += second[j];
  return {first[0], second[0]};
}

}  // namespace shw::solver
