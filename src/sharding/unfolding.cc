#include "sharding/unfolding.h"

namespace shw {

std::optional<Unfolding> Unfolding::of(const Dims& shape, const Mesh& mesh,
                                       std::initializer_list<Layout> layouts) {
  Unfolding u;
  u.rank_ = shape.size();
  for (const Layout& l : layouts)
    for (const Placement& p : l.placement) {
      if (!p.is_strided()) continue;
      if (static_cast<size_t>(p.dim()) >= shape.size() || p.factor() < 2) return std::nullopt;
      uint16_t& factor = u.factor_[static_cast<size_t>(p.dim())];
      if ((factor != 0 && factor != p.split_factor) ||
          shape[static_cast<size_t>(p.dim())] % p.factor() != 0)
        return std::nullopt;
      factor = p.split_factor;
    }
  for (const Layout& l : layouts) {
    std::array<int64_t, kMaxRank> plain;
    plain.fill(1);
    for (int m = 0; m < mesh.rank(); ++m) {
      if (!l[m].is_shard()) continue;
      if (static_cast<size_t>(l[m].dim()) >= shape.size()) return std::nullopt;
      const auto d = static_cast<size_t>(l[m].dim());
      plain[d] *= mesh.size(m);
      if (u.factor_[d] != 0 && u.factor_[d] % plain[d] != 0) return std::nullopt;
    }
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    const size_t parts = u.factor_[d] == 0 ? 1 : 2;
    if (u.shape_.size() + parts > kMaxRank) return std::nullopt;
    u.first_[d] = static_cast<uint8_t>(u.shape_.size());
    if (parts == 2) u.shape_.push_back(u.factor_[d]);
    u.shape_.push_back(parts == 2 ? shape[d] / u.factor_[d] : shape[d]);
  }
  return u;
}

Layout Unfolding::unfolded(Layout layout) const {
  if (is_trivial()) return layout;
  for (Placement& p : layout.placement)
    if (p.is_shard_like())
      p = Placement::shard(first_[static_cast<size_t>(p.dim())] + (p.is_strided() ? 1 : 0));
  return normalised(layout);
}

Layout Unfolding::folded(Layout layout) const {
  if (is_trivial()) return layout;
  for (Placement& p : layout.placement) {
    if (!p.is_shard()) continue;
    size_t d = rank_;
    while (first_[--d] > p.dim()) {
    }
    p = p.dim() == first_[d] ? Placement::shard(static_cast<int>(d))
                             : Placement::strided(static_cast<int>(d), factor_[d]);
  }
  return normalised(layout);
}

Dims Unfolding::folded_shape(const Dims& unfolded) const {
  Dims shape;
  for (size_t d = 0; d < rank_; ++d)
    shape.push_back(unfolded[first_[d]] * (factor_[d] == 0 ? 1 : unfolded[first_[d] + 1u]));
  return shape;
}

}  // namespace shw
