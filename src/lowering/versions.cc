#include "lowering/versions.h"

#include <algorithm>
#include <limits>

#include "lowering/transfer.h"

namespace shw {

void Versions::define(uint32_t slot, const TensorType& global, const Layout& layout,
                      ValueId value) {
  versions_[slot].global = global;
  versions_[slot].list.push_back({layout, value});
}

// The layout that serves a use of `wanted`, starting from `held`. Equal copies on all ranks are
// already a partial average, maximum or minimum, so such a use needs only replicas.
Layout Versions::serving(const Layout& held, Layout wanted) {
  for (int m = 0; m < kMaxMeshRank; ++m)
    if (wanted[m].kind == Placement::Kind::kPartial && wanted[m] != held[m] &&
        (wanted[m].reduce_op() == ReduceOp::kAvg || wanted[m].reduce_op() == ReduceOp::kMax ||
         wanted[m].reduce_op() == ReduceOp::kMin))
      wanted[m] = Placement::replicate();
  return wanted;
}

Layout Versions::opened(const Layout& held, Layout layout) {
  Layout out = layout;
  for (const Layout& l : {held, layout})
    for (const Placement& p : l.placement)
      for (int m = 0; m < kMaxMeshRank; ++m)
        if (p.is_strided() && layout[m].is_shard_like(p.dim())) out[m] = Placement::replicate();
  return normalised(out);
}

// The strides of a piece do not determine the position of a dim of size 1, which is larger once it
// is whole. So the planned order is preferred.
MemoryOrder Versions::order_of(uint32_t number, const TensorType& piece) const {
  if (!planned_.empty() && planned_[number].dense && planned_[number].fits(piece))
    return planned_[number];
  return MemoryOrder::of(piece);
}

Result<Versions::Source> Versions::cheapest_source(uint32_t number, const Layout& layout) {
  const Slot& slot = versions_[number];
  Source best{0, {}, {}, nullptr};
  double best_us = std::numeric_limits<double>::infinity();
  Status refusal;
  for (size_t i = 0; i < slot.list.size(); ++i) {
    const TensorType& piece = builder_.value(slot.list[i].value).type;
    MemoryOrder order = order_of(number, piece);
    const Layout from = order.permuted(slot.list[i].layout);
    const Layout to = order.permuted(serving(slot.list[i].layout, layout));
    auto unfolding =
        Unfolding::of(order.permuted(slot.global.shape), redistributor_.mesh(), {from, to});
    if (!unfolding) continue;
    auto route = redistributor_.route(unfolding->shape(), dtype_size(piece.dtype),
                                      unfolding->unfolded(from), unfolding->unfolded(to));
    if (!route.ok()) {
      if (refusal.ok()) refusal = route.status();
      continue;
    }
    const bool copied = !order.dense && !(*route)->moves.empty();
    const double us = (*route)->cost_us + (copied ? prices_.copy_us(piece.bytes()) : 0);
    if (us < best_us) best_us = us, best = {i, std::move(order), *unfolding, *route};
  }
  if (best.route != nullptr) return best;
  if (!refusal.ok()) return refusal;
  return unimplemented("no version of the value unfolds together with " +
                       to_string(layout, redistributor_.mesh().rank()));
}

ValueId Versions::follow(Slot& slot, const Source& source) {
  const Version& from = slot.list[source.version];
  ValueId piece = from.value;
  if (source.route->moves.empty()) return piece;
  const TensorType given = builder_.value(piece).type;
  if (!source.order.dense) piece = builder_.clone(piece, prices_.copy_us(given.bytes()));
  const Layout held = source.unfolding.unfolded(source.order.permuted(from.layout));
  piece = builder_.window_like(
      piece,
      row_major(given.dtype, local_shape(source.unfolding.shape(), held, redistributor_.mesh())));
  auto made_from = static_cast<uint32_t>(source.version);
  for (const Move& move : source.route->moves) {
    piece = emit_move(builder_, move, piece, redistributor_.mesh(), prices_);
    if (!move.after) continue;  // not a layout of the mesh, so no use reads it
    const TensorType lies =
        row_major(given.dtype, source.unfolding.folded_shape(builder_.value(piece).type.shape));
    TensorType seen{Dims(lies.shape.size(), 0), Dims(lies.shape.size(), 0), lies.dtype};
    for (size_t i = 0; i < lies.shape.size(); ++i) {
      seen.shape[source.order.dim_at[i]] = lies.shape[i];
      seen.strides[source.order.dim_at[i]] = lies.strides[i];
    }
    slot.list.push_back({source.order.permuted(source.unfolding.folded(*move.after), /*back=*/true),
                         builder_.window_like(piece, seen), made_from});
    made_from = static_cast<uint32_t>(slot.list.size() - 1);
  }
  return slot.list.back().value;
}

void Versions::start_from(std::span<const Versions* const> earlier) {
  for (const Versions* from : earlier)
    for (size_t slot = 0; slot < versions_.size(); ++slot) {
      std::vector<Version>& list = versions_[slot].list;
      versions_[slot].global = from->versions_[slot].global;
      for (const Version& v : from->versions_[slot].list)
        if (std::ranges::none_of(list, [&](const Version& w) { return w.layout == v.layout; }))
          list.push_back(v);
    }
}

std::optional<uint32_t> Versions::index_of(uint32_t slot, const Layout& layout) const {
  const std::vector<Version>& list = versions_[slot].list;
  const auto at = std::ranges::find(list, layout, &Version::layout);
  return at == list.end() ? std::nullopt : std::optional(static_cast<uint32_t>(at - list.begin()));
}

double Versions::price(uint32_t number, std::span<const Layout> layouts) const {
  const Slot& slot = versions_[number];
  std::vector<Layout> held;
  for (const Version& v : slot.list) held.push_back(v.layout);
  double total = 0;
  for (const Layout& layout : layouts) {
    if (std::ranges::find(held, layout) != held.end()) continue;
    double best = std::numeric_limits<double>::infinity();
    for (const Layout& from : held)
      best = std::min(best, redistributor_.price(slot.global.shape, dtype_size(slot.global.dtype),
                                                 from, serving(from, layout)));
    total += best;
    held.push_back(layout);
  }
  return total;
}

void Versions::drop_copies() {
  for (uint32_t slot : copied_) versions_[slot].list.resize(1);
  copied_.clear();
}

Result<ValueId> Versions::get(uint32_t number, const Layout& layout) {
  Slot& slot = versions_[number];
  SHW_CHECK(!slot.list.empty());
  if (const auto made = index_of(number, layout)) return slot.list[*made].value;
  // Strided shards with different factors, or together with plain shards that do not divide the
  // factor, have no common blocks. So the dim is made whole along the way.
  const Layout held = slot.list[0].layout;
  if (!Unfolding::of(slot.global.shape, redistributor_.mesh(), {held, layout}))
    if (const Layout on_the_way = opened(held, layout); on_the_way != layout)
      SHW_RETURN_IF_ERROR(get(number, on_the_way).status());
  SHW_ASSIGN_OR_RETURN(const Source source, cheapest_source(number, layout));
  copied_.push_back(number);
  return follow(slot, source);
}

}  // namespace shw
