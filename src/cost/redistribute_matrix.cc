// The prices of all pairs of two lists of layouts.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cost/redistribute.h"
#include "cost/redistribute_steps.h"

namespace shw::cost {
namespace {

using namespace redistribution;

// The distinct layouts of a list as a tree: one level per mesh dim in walking order, one branch per
// placement. Layouts with a common prefix share its price, so a matrix costs little more than its
// last level.
class LayoutTree {
 public:
  static constexpr uint32_t kNoKind = UINT32_MAX;
  struct Branch {
    uint32_t kind = 0;  // index of its placement in kinds()
    uint32_t first = 0,
             end = 0;  // children on the next level; on the last level, the position in the list
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

  // The distinct placements of all levels.
  std::span<const Placement> kinds() const { return kinds_; }
  uint32_t kind_of(Placement p) const {
    const auto at = std::find(kinds_.begin(), kinds_.end(), p);
    return at == kinds_.end() ? kNoKind : static_cast<uint32_t>(at - kinds_.begin());
  }

  std::span<const Branch> top() const { return levels_[0]; }
  std::span<const Branch> below(const Branch& b, int level) const {
    return std::span(levels_[static_cast<size_t>(level) + 1]).subspan(b.first, b.end - b.first);
  }

  std::vector<uint32_t> places;  // positions of the distinct layouts in the list
  std::vector<uint32_t> number;  // for each layout of the list, the index of its distinct layout
  bool any_strided() const { return any_strided_; }

 private:
  // A permutation that makes layouts with a common prefix adjacent, mesh dim 0 first.
  std::vector<uint32_t> in_order_of_placements(std::span<const Layout> layouts) {
    for (const Layout& l : layouts) any_strided_ |= l.has_strided();
    if (any_strided_) return sorted_by<WideKey>(layouts);
    return sorted_by<NarrowKey>(layouts);
  }
  struct NarrowKey {  // one byte represents any placement that is not strided
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

  // Adds branches from the level at which the layout differs from the previous one.
  void add(const Layout& layout, const Layout* previous) {
    size_t parting = 0;
    while (previous != nullptr && layout.placement[parting] == previous->placement[parting])
      ++parting;
    for (size_t level = levels_.size(); level-- > 0;) {
      const bool is_last = level + 1 == levels_.size();
      const auto end =
          is_last ? places.back() + 1 : static_cast<uint32_t>(levels_[level + 1].size());
      if (level >= parting)
        levels_[level].push_back({kind_or_new(layout.placement[level]), end - 1, end});
      levels_[level].back().end = end;
    }
  }
  uint32_t kind_or_new(Placement p) {
    const uint32_t kind = kind_of(p);
    if (kind != kNoKind) return kind;
    kinds_.push_back(p);
    return static_cast<uint32_t>(kinds_.size() - 1);
  }

  std::vector<std::vector<Branch>> levels_;
  std::vector<Placement> kinds_;
  bool any_strided_ = false;
};

// Prices all pairs of a list of layouts and a tree. The price of a step depends on the mesh dim,
// the piece and the two placements; it is looked up in a row with one entry per kind of placement
// in the tree.
class PairWalk {
 public:
  PairWalk(const CollectiveModel& model, const Roofline& roofline, PriceRules rules,
           const LayoutTree& to, std::span<double> out)
      : prices_(model, roofline),
        mesh_rank_(model.mesh().rank()),
        rules_(rules),
        to_(to),
        columns_(to.number.size()),
        out_(out) {}

  MemoPrices& prices() { return prices_; }
  // The prices from one source layout to all targets.
  void run(const Layout& from, uint32_t row, MemoPrices::State piece, bool contiguous) {
    for (int d = 0; d < mesh_rank_; ++d) from_[static_cast<size_t>(d)] = from_kind(from[d]);
    cell_ = out_.data() + row * columns_;
    descend(0, to_.top(), piece, contiguous, 0);
  }

 private:
  struct Step {
    double us;
    MemoPrices::State after;
  };
  struct FromKind {
    Placement placement;
    uint32_t same;                  // the equal kind in the tree, or LayoutTree::kNoKind
    std::vector<const Step*> rows;  // into steps_, by piece and mesh dim; null: not computed yet
  };

  uint32_t from_kind(Placement p) {
    for (uint32_t i = 0; i < from_kinds_.size(); ++i)
      if (from_kinds_[i].placement == p) return i;
    from_kinds_.push_back({p, to_.kind_of(p), {}});
    return static_cast<uint32_t>(from_kinds_.size() - 1);
  }

  const Step* steps(int d, FromKind& from, MemoPrices::State piece) {
    const size_t at = size_t{piece} * kMaxMeshRank + static_cast<size_t>(d);
    if (at < from.rows.size() && from.rows[at] != nullptr) return from.rows[at];
    std::vector<Step>& row = steps_.emplace_back();
    for (const Placement to : to_.kinds()) {
      MemoPrices::State after = piece;
      const double us =
          from.placement == to ? 0 : step_us(prices_, after, d, from.placement, to, rules_);
      row.push_back({us, after});
    }
    if (at >= from.rows.size()) from.rows.resize(at + kMaxMeshRank, nullptr);
    return from.rows[at] = row.data();
  }

  void descend(int d, std::span<const LayoutTree::Branch> targets, MemoPrices::State piece,
               bool contiguous, double total) {
    FromKind& from = from_kinds_[from_[static_cast<size_t>(d)]];
    const Step* const step = steps(d, from, piece);
    const double moved = contiguous ? total : total + prices_.copy_us(piece);
    if (d + 1 == mesh_rank_) {
      for (const LayoutTree::Branch& to : targets)
        cell_[to.first] = to.kind == from.same ? total : moved + step[to.kind].us;
      return;
    }
    for (const LayoutTree::Branch& to : targets) {
      const bool stays = to.kind == from.same;
      descend(d + 1, to_.below(to, d), step[to.kind].after, contiguous || !stays,
              stays ? total : moved + step[to.kind].us);
    }
  }

  MemoPrices prices_;
  const int mesh_rank_;
  const PriceRules rules_;
  const LayoutTree& to_;
  const size_t columns_;
  const std::span<double> out_;
  std::vector<FromKind> from_kinds_;
  std::vector<std::vector<Step>> steps_;       // rows are stable
  std::array<uint32_t, kMaxMeshRank> from_{};  // kinds of the source layout
  double* cell_ = nullptr;
};

}  // namespace

void redistribute_matrix(const CollectiveModel& model, const Roofline& roofline,
                         double global_bytes, bool contiguous, std::span<const Layout> from,
                         std::span<const Layout> to, std::span<double> out_row_major,
                         PriceRules rules) {
  const int mesh_rank = model.mesh().rank();
  const LayoutTree rows(from, mesh_rank), columns(to, mesh_rank);
  const size_t width = to.size();
  PairWalk pairs(model, roofline, rules, columns, out_row_major);
  for (const uint32_t i : rows.places) {
    const auto piece = pairs.prices().state_of(bytes_of_piece(model.mesh(), global_bytes, from[i]));
    pairs.run(from[i], i, piece, contiguous);
    double* row = out_row_major.data() + i * width;
    if (rows.any_strided() || columns.any_strided())
      for (const uint32_t j : columns.places)
        if (!unfold_together(model.mesh(), from[i], to[j])) row[j] = kInfinity;
    if (from[i].all_replicate() || mesh_rank == 2)  // the two exceptions in the rules
      for (const uint32_t j : columns.places) {
        if (from[i].all_replicate())
          row[j] = from_all_replicate_us(to[j]);
        else if (visits_inner_first(mesh_rank, from[i], to[j]) && row[j] < kInfinity)
          row[j] = walk(pairs.prices(), piece, contiguous, mesh_rank, from[i], to[j], rules);
      }
    if (columns.places.size() < width)
      for (size_t j = 0; j < width; ++j) row[j] = row[columns.places[columns.number[j]]];
  }
  for (size_t i = 0; i < from.size(); ++i)
    if (const size_t first = rows.places[rows.number[i]]; first != i)
      std::copy_n(out_row_major.data() + first * width, width, out_row_major.data() + i * width);
}

}  // namespace shw::cost
