// The solver's inner loops, compiled for several instruction sets and dispatched at load time. The
// folder is built with -ffp-contract=off (no fused multiply-add) and sums have a fixed order, so
// the results do not depend on the machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "support/multiversion.h"

namespace shw::solver {

// out[j] = min over s of w[s] + m[s][j]; m is row-major, rows × cols.
void min_plus(const double* w, size_t rows, const double* m, size_t cols, double* out);

// The same on tables in their original layout. lower_by_rows: out[j] = min(out[j], w[b] +
// row[b][j]) for four rows b. min_plus_rows: out[i] = min over j of w[j] + m[i][j] for each row i
// whose skip[i] is finite, and 0 for the others.
void lower_by_rows(const double* const row[4], const double w[4], size_t cols, double* out);
void min_plus_rows(const double* m, size_t rows, size_t cols, const double* w, const double* skip,
                   double* out);

// out[j][i] = m[i][j]; rows of m are `stride` apart, those of out `out_stride`.
void transpose(const double* m, size_t rows, size_t cols, size_t stride, double* out,
               size_t out_stride);

// Whether all values are numbers above −∞; whether all are below +∞.
bool all_costs(const double* values, size_t n);
bool all_finite(const double* values, size_t n);

// sum += by · row, and a · b, for vectors whose size n is a multiple of kWide.
inline constexpr size_t kWide = 8;
void add_scaled(double* sum, const double* row, double by, size_t n);
double dot(const double* a, const double* b, size_t n);
// The derivatives of ½ |max(0, sum + t · change)|² with respect to t.
struct Derivatives {
  double first, second;
};
Derivatives positive_part(const double* sum, const double* change, double t, size_t n);

// Variables of a sub-problem may have no labels: their tables are empty and have no address.
inline bool same_bytes(const void* a, const void* b, size_t bytes) {
  return bytes == 0 || std::memcmp(a, b, bytes) == 0;
}

}  // namespace shw::solver
