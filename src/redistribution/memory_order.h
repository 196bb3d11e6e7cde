// The order of a piece in memory: the tensor's dims from the outermost to the innermost stride. In
// these coordinates a permuted tensor is row-major, so it can be sent without a copy.
#pragma once
#include <cstdint>

#include "sharding/layout.h"
#include "support/small_vec.h"
#include "tensor/tensor_type.h"

namespace shw {

struct MemoryOrder {
  SmallVec<uint8_t, kMaxRank> dim_at{};  // dim_at[i]: the tensor dim with the i-th largest stride
  bool dense = false;                    // row-major in that order; else dim_at is ascending

  static MemoryOrder of(const TensorType& piece);
  // Whether a piece has this order. Dims of size 1 may be anywhere.
  bool fits(const TensorType& piece) const;
  Dims permuted(const Dims& dims) const;
  // Converts from the tensor's dims to those in memory, or back.
  Layout permuted(Layout layout, bool back = false) const;
  bool is_row_major() const;
  bool operator==(const MemoryOrder&) const = default;
};

}  // namespace shw
