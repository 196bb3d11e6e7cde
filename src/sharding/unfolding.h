// Strided shards by way of plain ones: a tensor dim with SS(d,f) taken as two dims, [f, D/f]. There
// S(d) is a shard of the first and SS(d,f) of the second, and what a rank holds is one block.
//
// Whatever must know which elements a rank owns – lowering, the redistribution planner, tests –
// works on the unfolded tensor and so knows plain shards only. A piece in memory is the same before
// and after: dims of a row-major piece that unfold lie side by side.
#pragma once
#include <array>
#include <initializer_list>
#include <optional>

#include "sharding/layout.h"

namespace shw {

class Unfolding {
 public:
  // The one in which all of `layouts` are plain. None: two factors for one dim, plain shards of it
  // that do not divide the factor, a shard of a dim that is not there, or more dims than a tensor
  // can have.
  static std::optional<Unfolding> of(const Dims& shape, const Mesh& mesh,
                                     std::initializer_list<Layout> layouts);

  bool is_trivial() const { return factor_ == std::array<uint16_t, kMaxRank>{}; }
  const Dims& shape() const { return shape_; }
  Layout unfolded(Layout layout) const;
  Layout folded(Layout layout) const;
  // Of a piece: the shape that it has in the folded tensor.
  Dims folded_shape(const Dims& unfolded) const;

 private:
  std::array<uint16_t, kMaxRank> factor_{};  // by dim of the folded tensor; 0: stays one dim
  std::array<uint8_t, kMaxRank> first_{};    // its (first) dim in the unfolded one
  size_t rank_ = 0;                          // of the folded tensor
  Dims shape_;                               // unfolded
};

}  // namespace shw
