// Min-plus products over tables rounded down to 16 bits: a quarter of the memory that a sweep
// reads, and four times as many cells per instruction. Rounding down can only lower a message.
// Subtracting a lower message leaves the table ≥ 0, so bounds stay valid (trws.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace shw::solver {

inline constexpr size_t kRoundedLanes = 32;  // rows are padded to whole 64-byte lines
inline constexpr int32_t kMaxRounded = INT16_MAX;

// Stands for the costs least + unit · cell, each at most the cost that was rounded. The highest
// cell stands for all higher costs, infinite ones included, and for the padding.
struct RoundedTable {
  const int16_t* cells = nullptr;  // null: the table is not rounded
  uint32_t stride = 0;
  double least = 0;
  double unit = 0;  // a power of two, so that scaling is exact
};

// The stride of a rounded row with this many cells.
inline size_t rounded_stride(size_t cells) {
  return (cells + kRoundedLanes - 1) / kRoundedLanes * kRoundedLanes;
}

// Rounds rows × cols costs, rows `stride` apart, into `cells`; returns the table.
RoundedTable round_down(const double* costs, uint32_t rows, uint32_t cols, size_t stride,
                        int16_t* cells);

// out[j] ≤ min over s of w[s] + cost[s][j], for `cols` columns, as close as rounding permits.
// `scratch`: 64-byte aligned, for rows and columns, each padded.
void min_plus_rounded(const double* w, uint32_t rows, const RoundedTable& table, int16_t* scratch,
                      size_t cols, double* out);

// The product with the transposed table: out[i] ≤ min over j of w[j] + cost[i][j], for `rows` rows.
void min_plus_rounded_rows(const double* w, uint32_t cols, const RoundedTable& table,
                           int16_t* scratch, size_t rows, double* out);

}  // namespace shw::solver
