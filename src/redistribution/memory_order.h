// How a piece lies in memory: the tensor's dims from the outermost to the innermost stride. In
// these coordinates a permuted tensor is an ordinary one, and needs no copy to be sent.
#pragma once
#include <cstdint>
#include <vector>

#include "sharding/layout.h"
#include "tensor/tensor_type.h"

namespace shw {

struct MemoryOrder {
  std::vector<uint8_t> dim_at{};  // dim_at[i]: the tensor dim that lies i-th
  bool dense = false;             // row-major in that order; else dim_at is ascending

  static MemoryOrder of(const TensorType& piece);
  // Whether a piece lies in this order: of dims of size 1 any is right.
  bool fits(const TensorType& piece) const;
  Dims permuted(const Dims& dims) const;
  // From the tensor's dims to those in memory, or back.
  Layout permuted(Layout layout, bool back = false) const;
  bool is_row_major() const;
  bool operator==(const MemoryOrder&) const = default;
};

}  // namespace shw
