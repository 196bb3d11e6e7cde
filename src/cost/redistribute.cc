// The walk over the mesh dims, written once for a single price and for whole matrices.
#include "cost/redistribute.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace shw::cost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How the size of the local piece is kept on the way, and what one step of a given size costs.
// DirectPrices asks the models each time; MemoPrices numbers the few sizes that a value can have on
// one mesh and asks once for each. A State stands for a size; walk() below is written once for
// both.
class DirectPrices {
 public:
  using State = double;  // bytes: a real number, as in the reference; cut only for a collective
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
    std::array<std::array<double, 4>, kMaxMeshRank> collective_us{};  // negative: not asked yet
  };
  DirectPrices direct_;
  std::vector<Size> sizes_;
};

// The one exception from "outermost mesh dim first": P(sum)P(sum) to shards on a 2-D mesh scatters
// the inner dim first, so that less crosses the outer.
bool visits_inner_first(int mesh_rank, const Layout& from, const Layout& to) {
  return mesh_rank == 2 && from[0] == Placement::partial() && from[1] == Placement::partial() &&
         to[0].is_shard_like() && to[1].is_shard_like();
}

double bytes_of_piece(const Mesh& mesh, double global_bytes, const Layout& layout) {
  double pieces = 1;
  for (int d = 0; d < mesh.rank(); ++d)
    if (layout[d].is_shard_like()) pieces *= static_cast<double>(mesh.size(d));
  return global_bytes / pieces;
}

// One mesh dim's change; `piece` becomes the state after it.
template <class Prices>
double step_us(Prices& prices, typename Prices::State& piece, int d, Placement from, Placement to,
               PriceRules rules) {
  const auto off_first_dim = [](Placement p) { return p.is_strided() || p.dim() != 0; };
  if (to.is_partial()) return from.is_partial() && rules == PriceRules::kCompat ? 0.0 : kInfinity;
  if (from.is_replicate()) return 0;  // the reference leaves the size as it is
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

// Whether all shards of `p`'s tensor dim, which `p` cuts with a factor, are plain shards of one
// unfolded tensor (sharding/unfolding.h): then the way between the layouts is one of blocks.
bool unfolds_with(const Mesh& mesh, const Layout& layout, Placement p) {
  int64_t plain = 1;
  for (int d = 0; d < mesh.rank(); ++d) {
    if (!layout[d].is_shard_like(p.dim())) continue;
    if (layout[d].is_strided() && layout[d] != p) return false;
    if (layout[d].is_shard()) plain *= mesh.size(d);
  }
  return p.factor() % plain == 0;
}

bool unfold_together(const Mesh& mesh, const Layout& from, const Layout& to) {
  for (const Layout* l : {&from, &to})
    for (const Placement& p : l->placement)
      if (p.is_strided() && !(unfolds_with(mesh, from, p) && unfolds_with(mesh, to, p)))
        return false;
  return true;
}

double from_all_replicate_us(const Layout& to) { return to.has_partial() ? kInfinity : 0.0; }

// The different layouts of a list as a tree: one level a mesh dim, in the order in which they are
// visited, one branch a placement. Pairs of layouts that begin alike share the price of what they
// have in common, so a matrix costs little more than its last level.
class LayoutTree {
 public:
  struct Branch {
    Placement placement;
    uint32_t first = 0, end = 0;  // below it, on the next level; at the last: which layout it is
  };

  LayoutTree(std::span<const Layout> layouts, int mesh_rank)
      : number(layouts.size()), levels_(static_cast<size_t>(mesh_rank)) {
    const std::vector<uint32_t> order = in_order_of_placements(layouts);
    for (size_t i = 0; i < order.size(); ++i) {
      const Layout* previous = i == 0 ? nullptr : &layouts[order[i - 1]];
      if (previous == nullptr || !layouts[order[i]].same_placements(*previous)) {
        places.push_back(order[i]);
        add(layouts[order[i]], previous);
      }
      number[order[i]] = static_cast<uint32_t>(places.size() - 1);
    }
  }

  std::span<const Branch> top() const { return levels_[0]; }
  std::span<const Branch> below(const Branch& b, int level) const {
    return std::span(levels_[static_cast<size_t>(level) + 1]).subspan(b.first, b.end - b.first);
  }

  std::vector<uint32_t> places;  // of the different layouts, in the list
  std::vector<uint32_t> number;  // for each of the list, which of them it is
  bool any_strided() const { return any_strided_; }

 private:
  // Indices, so that layouts which begin alike follow one another, mesh dim 0 first.
  std::vector<uint32_t> in_order_of_placements(std::span<const Layout> layouts) {
    for (const Layout& l : layouts) any_strided_ |= l.has_strided();
    if (any_strided_) return sorted_by<WideKey>(layouts);
    return sorted_by<NarrowKey>(layouts);
  }
  struct NarrowKey {  // a byte says all of a placement that is not strided
    uint64_t bits = 0;
    explicit NarrowKey(const Layout& layout) {
      static_assert(kMaxMeshRank * 8 <= 64 && kMaxRank <= 64);
      for (const Placement p : layout.placement)
        bits = bits << 8 | static_cast<uint64_t>(p.kind) << 6 | p.arg;
    }
    auto operator<=>(const NarrowKey&) const = default;
  };
  struct WideKey {
    std::array<uint32_t, kMaxMeshRank> words{};
    explicit WideKey(const Layout& layout) {
      for (size_t m = 0; m < words.size(); ++m) {
        const Placement p = layout.placement[m];
        words[m] = uint32_t{p.split_factor} << 16 | static_cast<uint32_t>(p.kind) << 8 | p.arg;
      }
    }
    auto operator<=>(const WideKey&) const = default;
  };
  template <class Key>
  static std::vector<uint32_t> sorted_by(std::span<const Layout> layouts) {
    std::vector<std::pair<Key, uint32_t>> keys;
    keys.reserve(layouts.size());
    for (uint32_t i = 0; i < layouts.size(); ++i) keys.emplace_back(Key(layouts[i]), i);
    std::sort(keys.begin(), keys.end());
    std::vector<uint32_t> order(layouts.size());
    for (size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].second;
    return order;
  }

  // New branches from the level on which the layout leaves the path of the one before it.
  void add(const Layout& layout, const Layout* previous) {
    size_t parting = 0;
    while (previous != nullptr && layout.placement[parting] == previous->placement[parting])
      ++parting;
    for (size_t level = levels_.size(); level-- > 0;) {
      const auto end = static_cast<uint32_t>(
          level + 1 == levels_.size() ? places.size() : levels_[level + 1].size());
      if (level >= parting) levels_[level].push_back({layout.placement[level], end - 1, end});
      levels_[level].back().end = end;
    }
  }

  std::vector<std::vector<Branch>> levels_;
  bool any_strided_ = false;
};

// Prices of all pairs of two trees.
class PairWalk {
 public:
  PairWalk(const CollectiveModel& model, const Roofline& roofline, PriceRules rules,
           const LayoutTree& to, std::span<double> out)
      : prices_(model, roofline),
        last_(model.mesh().rank() - 1),
        rules_(rules),
        to_(to),
        columns_(to.number.size()),
        out_(out) {}

  MemoPrices& prices() { return prices_; }
  // One source layout: its price to every target, with 1 for a change if `transitions`.
  void run(const Layout& from, uint32_t row, MemoPrices::State piece, bool contiguous,
           double transition) {
    from_ = &from;
    cell_ = out_.data() + row * columns_;
    transition_ = transition;
    descend(0, to_.top(), piece, contiguous, 0, false);
  }

 private:
  void descend(int d, std::span<const LayoutTree::Branch> targets, MemoPrices::State piece,
               bool contiguous, double total, bool changed) {
    const Placement from = (*from_)[d];
    for (const LayoutTree::Branch& to : targets) {
      MemoPrices::State after = piece;
      double sum = total;
      const bool differs = from != to.placement;
      if (differs) {
        if (!contiguous) sum += prices_.copy_us(piece);
        sum += step_us(prices_, after, d, from, to.placement, rules_);
      }
      if (d == last_)
        cell_[to_.places[to.first]] = changed || differs ? sum + transition_ : sum;
      else
        descend(d + 1, to_.below(to, d), after, contiguous || differs, sum, changed || differs);
    }
  }

  MemoPrices prices_;
  const int last_;
  const PriceRules rules_;
  const LayoutTree& to_;
  const size_t columns_;
  const std::span<double> out_;
  const Layout* from_ = nullptr;
  double* cell_ = nullptr;
  double transition_ = 0;
};

}  // namespace

ValueMeta value_meta(const TensorType& type) {
  return {.bytes = static_cast<double>(type.bytes()), .contiguous = type.contiguous()};
}

double redistribute_us(const CollectiveModel& model, const Roofline& roofline, double global_bytes,
                       bool contiguous, const Layout& from, const Layout& to, PriceRules rules) {
  if (from.all_replicate()) return from_all_replicate_us(to);
  if (!unfold_together(model.mesh(), from, to)) return kInfinity;
  DirectPrices prices(model, roofline);
  return walk(prices, bytes_of_piece(model.mesh(), global_bytes, from), contiguous,
              model.mesh().rank(), from, to, rules);
}

void redistribute_matrix(const CollectiveModel& model, const Roofline& roofline,
                         double global_bytes, bool contiguous, std::span<const Layout> from,
                         std::span<const Layout> to, std::span<double> out_row_major,
                         PriceRules rules, double transition) {
  const int mesh_rank = model.mesh().rank();
  const LayoutTree rows(from, mesh_rank), columns(to, mesh_rank);
  const size_t width = to.size();
  PairWalk pairs(model, roofline, rules, columns, out_row_major);
  for (const uint32_t i : rows.places) {
    const auto piece = pairs.prices().state_of(bytes_of_piece(model.mesh(), global_bytes, from[i]));
    pairs.run(from[i], i, piece, contiguous, transition);
    double* row = out_row_major.data() + i * width;
    if (rows.any_strided() || columns.any_strided())
      for (const uint32_t j : columns.places)
        if (!unfold_together(model.mesh(), from[i], to[j])) row[j] = kInfinity;
    if (from[i].all_replicate() || mesh_rank == 2)  // the two exceptions of the rules
      for (const uint32_t j : columns.places) {
        if (from[i].all_replicate())
          row[j] = from_all_replicate_us(to[j]) + transition * transition_us(from[i], to[j]);
        else if (visits_inner_first(mesh_rank, from[i], to[j]) && row[j] < kInfinity)
          row[j] = transition +
                   walk(pairs.prices(), piece, contiguous, mesh_rank, from[i], to[j], rules);
      }
    if (columns.places.size() < width)
      for (size_t j = 0; j < width; ++j) row[j] = row[columns.places[columns.number[j]]];
  }
  for (size_t i = 0; i < from.size(); ++i)
    if (const size_t first = rows.places[rows.number[i]]; first != i)
      std::copy_n(out_row_major.data() + first * width, width, out_row_major.data() + i * width);
}

double transition_us(const Layout& from, const Layout& to) {
  return from.same_placements(to) ? 0.0 : 1.0;
}

}  // namespace shw::cost
