#include "solver/kernels.h"

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

}  // namespace shw::solver
