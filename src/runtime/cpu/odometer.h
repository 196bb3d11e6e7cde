// Iteration over a shape, element by element or row by row, for kernels that are not pointwise and
// whose operands have different dims.
#pragma once
#include <array>

#include "runtime/strided.h"

namespace shw::runtime::cpu {

// Calls f(offsets in bytes) for each index of `shape`, in row-major order; strides in bytes, one
// Dims per operand.
template <size_t N, class F>
void for_each_offset(const Dims& shape, const std::array<Dims, N>& strides, F&& f) {
  for (int64_t n : shape)
    if (n == 0) return;
  std::array<int64_t, kMaxRank> index{};
  std::array<int64_t, N> at{};
  while (true) {
    f(at);
    size_t d = shape.size();
    for (; d-- > 0;) {
      if (++index[d] < shape[d]) {
        for (size_t o = 0; o < N; ++o) at[o] += strides[o][d];
        break;
      }
      for (size_t o = 0; o < N; ++o) at[o] -= (shape[d] - 1) * strides[o][d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

}  // namespace shw::runtime::cpu
