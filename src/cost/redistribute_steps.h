// The walk over the mesh dims from one layout to another, shared by single prices and matrices.
// Internal to the two files that price redistributions.
#pragma once
#include <array>
#include <limits>
#include <vector>

#include "cost/redistribute.h"

namespace shw::cost::redistribution {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How the size of the local piece is tracked, and what one step at a given size costs. DirectPrices
// queries the models every time; MemoPrices numbers the few sizes that a value can have on a mesh
// and queries once for each. A State represents a size; walk() below serves both.
class DirectPrices {
 public:
  using State =
      double;  // bytes: a real number, as in the reference planner; truncated only for a collective
  DirectPrices(const CollectiveModel& model, const Roofline& roofline)
      : model_(model), roofline_(roofline) {}

  State times(State bytes, int mesh_dim) { return bytes * size(mesh_dim); }
  State over(State bytes, int mesh_dim) { return bytes / size(mesh_dim); }
  double copy_us(State bytes) { return roofline_.rw_us(2 * bytes); }
  double collective_us(Collective c, int mesh_dim, State bytes) {
    return model_.us(c, mesh_dim, static_cast<int64_t>(bytes));
  }

 private:
  double size(int mesh_dim) const { return static_cast<double>(model_.mesh().size(mesh_dim)); }
  const CollectiveModel& model_;
  const Roofline& roofline_;
};

class MemoPrices {
 public:
  using State = uint32_t;
  MemoPrices(const CollectiveModel& model, const Roofline& roofline) : direct_(model, roofline) {
    sizes_.reserve(64);
  }

  State state_of(double bytes) {
    for (uint32_t i = 0; i < sizes_.size(); ++i)
      if (sizes_[i].bytes == bytes) return i;
    sizes_.push_back(Size{.bytes = bytes, .copy_us = direct_.copy_us(bytes)});
    for (auto& prices : sizes_.back().collective_us) prices.fill(-1);
    sizes_.back().times.fill(kUnknown);
    sizes_.back().over.fill(kUnknown);
    return static_cast<State>(sizes_.size() - 1);
  }
  State times(State s, int mesh_dim) {
    const auto d = static_cast<size_t>(mesh_dim);
    if (sizes_[s].times[d] == kUnknown) {
      const State next = state_of(direct_.times(sizes_[s].bytes, mesh_dim));
      sizes_[s].times[d] = next;
    }
    return sizes_[s].times[d];
  }
  State over(State s, int mesh_dim) {
    const auto d = static_cast<size_t>(mesh_dim);
    if (sizes_[s].over[d] == kUnknown) {
      const State next = state_of(direct_.over(sizes_[s].bytes, mesh_dim));
      sizes_[s].over[d] = next;
    }
    return sizes_[s].over[d];
  }
  double copy_us(State s) { return sizes_[s].copy_us; }
  double collective_us(Collective c, int mesh_dim, State s) {
    double& us = sizes_[s].collective_us[static_cast<size_t>(mesh_dim)][static_cast<size_t>(c)];
    if (us < 0) us = direct_.collective_us(c, mesh_dim, sizes_[s].bytes);
    return us;
  }

 private:
  static constexpr State kUnknown = ~State{0};
  struct Size {
    double bytes = 0, copy_us = 0;
    std::array<State, kMaxMeshRank> times{}, over{};
    std::array<std::array<double, 4>, kMaxMeshRank> collective_us{};  // negative: not computed yet
  };
  DirectPrices direct_;
  std::vector<Size> sizes_;
};

// The exception to "outermost mesh dim first": P(sum)P(sum) to shards on a 2-D mesh scatters the
// inner dim first, so that less data crosses the outer one.
inline bool visits_inner_first(int mesh_rank, const Layout& from, const Layout& to) {
  return mesh_rank == 2 && from[0] == Placement::partial() && from[1] == Placement::partial() &&
         to[0].is_shard_like() && to[1].is_shard_like();
}

inline double bytes_of_piece(const Mesh& mesh, double global_bytes, const Layout& layout) {
  double pieces = 1;
  for (int d = 0; d < mesh.rank(); ++d)
    if (layout[d].is_shard_like()) pieces *= static_cast<double>(mesh.size(d));
  return global_bytes / pieces;
}

// The change on one mesh dim; `piece` becomes the state after it.
template <class Prices>
double step_us(Prices& prices, typename Prices::State& piece, int d, Placement from, Placement to,
               PriceRules rules) {
  const auto off_first_dim = [](Placement p) { return p.is_strided() || p.dim() != 0; };
  if (to.is_partial()) return from.is_partial() && rules == PriceRules::kCompat ? 0.0 : kInfinity;
  if (from.is_replicate()) return 0;  // the reference planner leaves the size unchanged
  if (from.is_shard_like() && to.is_replicate()) {
    piece = prices.times(piece, d);
    const double us = prices.collective_us(Collective::kAllGather, d, piece);
    return off_first_dim(from) ? us + prices.copy_us(piece) : us;
  }
  if (from.is_shard_like()) {
    const double us = prices.collective_us(Collective::kAllToAll, d, piece);
    return us + (off_first_dim(from) + off_first_dim(to)) * prices.copy_us(piece);
  }
  if (to.is_replicate()) return prices.collective_us(Collective::kAllReduce, d, piece);
  double us = prices.collective_us(Collective::kReduceScatter, d, piece);
  if (off_first_dim(to)) us += prices.copy_us(piece);
  piece = prices.over(piece, d);
  return us;
}

template <class Prices>
double walk(Prices& prices, typename Prices::State piece, bool contiguous, int mesh_rank,
            const Layout& from, const Layout& to, PriceRules rules) {
  const bool inner_first = visits_inner_first(mesh_rank, from, to);
  double total = 0;
  for (int i = 0; i < mesh_rank; ++i) {
    const int d = inner_first ? mesh_rank - 1 - i : i;
    if (from[d] == to[d]) continue;
    if (!contiguous) total += prices.copy_us(piece);
    contiguous = true;
    total += step_us(prices, piece, d, from[d], to[d], rules);
  }
  return total;
}

// Whether all shards of the tensor dim that `p` cuts with a factor are plain shards of one unfolded
// tensor (sharding/unfolding.h): the redistribution then moves whole blocks.
inline bool unfolds_with(const Mesh& mesh, const Layout& layout, Placement p) {
  int64_t plain = 1;
  for (int d = 0; d < mesh.rank(); ++d) {
    if (!layout[d].is_shard_like(p.dim())) continue;
    if (layout[d].is_strided() && layout[d] != p) return false;
    if (layout[d].is_shard()) plain *= mesh.size(d);
  }
  return p.factor() % plain == 0;
}

inline bool unfold_together(const Mesh& mesh, const Layout& from, const Layout& to) {
  for (const Layout* l : {&from, &to})
    for (const Placement& p : l->placement)
      if (p.is_strided() && !(unfolds_with(mesh, from, p) && unfolds_with(mesh, to, p)))
        return false;
  return true;
}

inline double from_all_replicate_us(const Layout& to) { return to.has_partial() ? kInfinity : 0.0; }

}  // namespace shw::cost::redistribution
