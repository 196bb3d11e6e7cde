#include "solver/rounded_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/multiversion.h"

namespace shw::solver {
namespace {

#define SHW_ROUNDED_INLINE inline __attribute__((always_inline))

typedef int16_t Cells __attribute__((vector_size(2 * kRoundedLanes)));  // rows are aligned to this

SHW_ROUNDED_INLINE const Cells& cells_at(const int16_t* p) {
  return *reinterpret_cast<const Cells*>(p);
}

// out = min over s of w[s] + m[s], for kBlocks vectors of columns.
template <size_t kBlocks>
SHW_ROUNDED_INLINE void min_plus_cells(const int16_t* w, uint32_t rows, const int16_t* m,
                                       size_t stride, int16_t* out) {
  Cells least[kBlocks];
  for (size_t b = 0; b < kBlocks; ++b) least[b] = w[0] + cells_at(m + kRoundedLanes * b);
  for (uint32_t s = 1; s < rows; ++s) {
    const int16_t* row = m + s * stride;
    for (size_t b = 0; b < kBlocks; ++b) {
      const Cells sum = w[s] + cells_at(row + kRoundedLanes * b);
      least[b] = sum < least[b] ? sum : least[b];
    }
  }
  for (size_t b = 0; b < kBlocks; ++b)
    *reinterpret_cast<Cells*>(out + kRoundedLanes * b) = least[b];
}

}  // namespace

RoundedTable round_down(const double* costs, uint32_t rows, uint32_t cols, size_t stride,
                        int16_t* cells) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = kInfinity, most = 0;
  for (uint32_t i = 0; i < rows; ++i)
    least = std::min(least, *std::min_element(costs + i * stride, costs + i * stride + cols));
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < cols; ++j)
      if (costs[i * stride + j] < kInfinity) most = std::max(most, costs[i * stride + j] - least);
  int exponent = 0;
  std::frexp(most / kMaxRounded, &exponent);
  const double unit = std::ldexp(1.0, exponent), per_unit = 1 / unit;
  const size_t padded = rounded_stride(cols);
  for (uint32_t i = 0; i < rows; ++i) {
    int16_t* row = cells + i * padded;
    for (uint32_t j = 0; j < cols; ++j) {
      const double units = (costs[i * stride + j] - least) * per_unit;
      row[j] = static_cast<int16_t>(units < kMaxRounded ? units : kMaxRounded);
    }
    std::fill(row + cols, row + padded, static_cast<int16_t>(kMaxRounded));
  }
  return {cells, static_cast<uint32_t>(padded), least, unit};
}

// The least w becomes the lowest 16-bit number, so that no sum overflows.
SHW_MULTIVERSION_16 void min_plus_rounded(const double* w, uint32_t rows, const RoundedTable& table,
                                          int16_t* scratch, size_t cols, double* out) {
  constexpr int32_t kOffset = kMaxRounded + 1;
  double least = w[0];
  for (uint32_t s = 1; s < rows; ++s) least = w[s] < least ? w[s] : least;
  int16_t* rounded = scratch;
  int16_t* found = scratch + (rows + kRoundedLanes - 1) / kRoundedLanes * kRoundedLanes;
  const double per_unit = 1 / table.unit, most = kMaxRounded;
  for (uint32_t s = 0; s < rows; ++s) {
    const double units = (w[s] - least) * per_unit;
    rounded[s] = static_cast<int16_t>(static_cast<int32_t>(units < most ? units : most) - kOffset);
  }
  size_t j = 0;
  for (; j + 4 * kRoundedLanes <= table.stride; j += 4 * kRoundedLanes)
    min_plus_cells<4>(rounded, rows, table.cells + j, table.stride, found + j);
  for (; j + 2 * kRoundedLanes <= table.stride; j += 2 * kRoundedLanes)
    min_plus_cells<2>(rounded, rows, table.cells + j, table.stride, found + j);
  if (j < table.stride) min_plus_cells<1>(rounded, rows, table.cells + j, table.stride, found + j);
  least += table.least;
  for (j = 0; j < cols; ++j) out[j] = least + (found[j] + kOffset) * table.unit;
}

}  // namespace shw::solver
