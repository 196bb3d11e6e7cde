#include "redistribution/memory_order.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "support/stable_sort.h"

namespace shw {

MemoryOrder MemoryOrder::of(const TensorType& piece) {
  MemoryOrder order;
  order.dim_at.resize(piece.shape.size());
  std::iota(order.dim_at.begin(), order.dim_at.end(), uint8_t{0});
  if (!std::ranges::is_sorted(piece.strides, std::greater()))
    sort_stably(order.dim_at,
                [&](uint8_t a, uint8_t b) { return piece.strides[a] > piece.strides[b]; });
  order.dense = order.fits(piece);
  if (!order.dense) std::iota(order.dim_at.begin(), order.dim_at.end(), uint8_t{0});
  return order;
}

bool MemoryOrder::fits(const TensorType& piece) const {
  return TensorType{permuted(piece.shape), permuted(piece.strides), piece.dtype}.contiguous();
}

Dims MemoryOrder::permuted(const Dims& dims) const {
  Dims out;
  for (uint8_t d : dim_at) out.push_back(dims[d]);
  return out;
}

Layout MemoryOrder::permuted(Layout layout, bool back) const {
  for (Placement& p : layout.placement) {
    if (!p.is_shard_like()) continue;
    const auto at = std::find(dim_at.begin(), dim_at.end(), p.arg);
    p.arg = back ? dim_at[p.arg] : static_cast<uint8_t>(at - dim_at.begin());
  }
  return layout;
}

bool MemoryOrder::is_row_major() const {
  return dense && std::is_sorted(dim_at.begin(), dim_at.end());
}

}  // namespace shw
