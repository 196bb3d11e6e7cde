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

constexpr int32_t kOffset = kMaxRounded + 1;

// Rounds `n` costs down to units above the least of them, which becomes the lowest 16-bit number,
// so that no sum with a cell overflows. Returns the least.
SHW_ROUNDED_INLINE double round_costs(const double* w, size_t n, double unit, int16_t* rounded) {
  double least = w[0];
  for (size_t s = 1; s < n; ++s) least = w[s] < least ? w[s] : least;
  const double per_unit = 1 / unit, most = kMaxRounded;
  for (size_t s = 0; s < n; ++s) {
    const double units = (w[s] - least) * per_unit;
    rounded[s] = static_cast<int16_t>(static_cast<int32_t>(units < most ? units : most) - kOffset);
  }
  return least;
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

SHW_MULTIVERSION_16 void min_plus_rounded(const double* w, uint32_t rows, const RoundedTable& table,
                                          int16_t* scratch, size_t cols, double* out) {
  int16_t* rounded = scratch;
  int16_t* found = scratch + rounded_stride(rows);
  const double least = table.least + round_costs(w, rows, table.unit, rounded);
  size_t j = 0;
  for (; j + 4 * kRoundedLanes <= table.stride; j += 4 * kRoundedLanes)
    min_plus_cells<4>(rounded, rows, table.cells + j, table.stride, found + j);
  for (; j + 2 * kRoundedLanes <= table.stride; j += 2 * kRoundedLanes)
    min_plus_cells<2>(rounded, rows, table.cells + j, table.stride, found + j);
  if (j < table.stride) min_plus_cells<1>(rounded, rows, table.cells + j, table.stride, found + j);
  for (j = 0; j < cols; ++j) out[j] = least + (found[j] + kOffset) * table.unit;
}

SHW_MULTIVERSION_16 void min_plus_rounded_rows(const double* w, uint32_t cols,
                                               const RoundedTable& table, int16_t* scratch,
                                               size_t rows, double* out) {
  const double least = table.least + round_costs(w, cols, table.unit, scratch);
  std::fill(scratch + cols, scratch + table.stride, int16_t{0});  // beside the highest cells
  for (size_t i = 0; i < rows; ++i) {
    const int16_t* row = table.cells + i * table.stride;
    Cells lowest = cells_at(scratch) + cells_at(row);
    for (size_t j = kRoundedLanes; j < table.stride; j += kRoundedLanes) {
      const Cells sum = cells_at(scratch + j) + cells_at(row + j);
      lowest = sum < lowest ? sum : lowest;
    }
    int16_t found = lowest[0];
    for (size_t l = 1; l < kRoundedLanes; ++l) found = lowest[l] < found ? lowest[l] : found;
    out[i] = least + (found + kOffset) * table.unit;
  }
}

}  // namespace shw::solver
