// Expresses strided shards as plain ones: a tensor dim with SS(d,f) is viewed as two dims, [f,
// D/f]. S(d) is then a shard of the first and SS(d,f) of the second, and each rank holds one block.
//
// Code that must know which elements a rank owns (lowering, the redistribution planner, tests)
// works on the unfolded tensor and therefore sees plain shards only. A piece has the same memory
// layout before and after: the unfolded dims of a row-major piece are adjacent.
#pragma once
#include <array>
#include <initializer_list>
#include <optional>

#include "sharding/layout.h"

namespace shw {

class Unfolding {
 public:
  // The unfolding in which all of `layouts` are plain. nullopt: two factors for one dim, plain
  // shards that do not divide the factor, a shard of a missing dim, or more dims than a tensor can
  // have.
  static std::optional<Unfolding> of(const Dims& shape, const Mesh& mesh,
                                     std::initializer_list<Layout> layouts);

  bool is_trivial() const { return factor_ == std::array<uint16_t, kMaxRank>{}; }
  const Dims& shape() const { return shape_; }
  Layout unfolded(Layout layout) const;
  Layout folded(Layout layout) const;
  // The shape of a piece in the folded tensor.
  Dims folded_shape(const Dims& unfolded) const;

 private:
  std::array<uint16_t, kMaxRank> factor_{};  // by dim of the folded tensor; 0: not unfolded
  std::array<uint8_t, kMaxRank> first_{};    // the first dim that it becomes in the unfolded tensor
  size_t rank_ = 0;                          // of the folded tensor
  Dims shape_;                               // unfolded
};

}  // namespace shw
