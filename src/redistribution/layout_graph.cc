#include "redistribution/layout_graph.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "redistribution/route_search.h"
#include "support/multiversion.h"

namespace shw {

// The number of targets that are relaxed together. It is so small that the rows of all states fit
// into the cache.
constexpr size_t kLanes = 32;
struct alignas(64) RouteLanes {
  double us[kLanes];
};

struct RouteColumn {
  static constexpr uint32_t kOwn = ~0u;
  uint32_t of;        // index among the requested targets
  uint32_t symmetry;  // a state's prices are in the row of its image; kOwn: in its own
};

namespace {

// Packs a layout without strided shards into 60 bits: six per placement, and three per position in
// the order.
uint64_t key_of(const Layout& layout) {
  uint64_t key = 0;
  for (int m = 0; m < kMaxMeshRank; ++m) {
    static_assert(kMaxRank <= 32);
    const Placement p = layout[m];
    const uint64_t kind = p.is_shard()       ? 32u + p.arg
                          : p.is_replicate() ? 0u
                                             : 1u + static_cast<unsigned>(p.arg);
    key = key << 9 | kind << 3 | layout.order[static_cast<size_t>(m)];
  }
  return key;
}

std::vector<int> dims_of(const Dims& shape) {
  std::vector<int> dims;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) dims.push_back(static_cast<int>(d));
  return dims;
}

// From this many states times targets on, starting threads pays off.
constexpr size_t kWorthThreads = 1 << 16;

struct RelaxEdge {
  const RouteLanes* via;
  double us;
};

// Lowers the prices of a row that are cheaper through other rows. Returns whether any price was
// lowered.
SHW_MULTIVERSION bool relax(const RelaxEdge* first, const RelaxEdge* end, RouteLanes& row) {
  // Compiler vectors, which map to the vector registers of the machine: four of eight lanes each
  // stay in registers.
  using Lanes = double __attribute__((vector_size(8 * sizeof(double)), may_alias));
  static_assert(kLanes == 4 * 8);
  Lanes* const own = reinterpret_cast<Lanes*>(row.us);
  Lanes a = own[0], b = own[1], c = own[2], d = own[3];
  for (const RelaxEdge* w = first; w != end; ++w) {
    const Lanes* const via = reinterpret_cast<const Lanes*>(w->via->us);
    const Lanes e = via[0] + w->us, f = via[1] + w->us, g = via[2] + w->us, h = via[3] + w->us;
    a = e < a ? e : a;
    b = f < b ? f : b;
    c = g < c ? g : c;
    d = h < d ? h : d;
  }
  const auto better = (a < own[0]) | (b < own[1]) | (c < own[2]) | (d < own[3]);
  own[0] = a, own[1] = b, own[2] = c, own[3] = d;
  int64_t any = 0;
  for (int t = 0; t < 8; ++t) any |= better[t];
  return any != 0;
}

// Relaxes the states level by level, each level until no row improves. A level is a number of
// partial placements. No move makes a value partial, so states with fewer partial placements never
// depend on states with more. A row is relaxed again only through rows that have changed since.
template <class Levels, class ForEachEdge>
void relax_until_done(const Levels& levels, size_t states, ForEachEdge&& for_each_edge) {
  std::vector<uint32_t> changed(states, 1), looked(states, 0);
  uint32_t now = 1;
  for (const std::vector<uint32_t>& level : levels)
    for (bool any = true; any;) {
      any = false;
      for (const uint32_t s : level) {
        const uint32_t since = looked[s];
        looked[s] = ++now;
        const bool better = for_each_edge(s, [&](uint32_t to) { return changed[to] > since; });
        if (better) changed[s] = ++now;
        any |= better;
      }
    }
}

}  // namespace

LayoutGraph::LayoutGraph(const Mesh& mesh, const MovePrices& prices, const Dims& shape,
                         int64_t element_bytes, const Siblings* parts)
    : shape_(shape),
      collectives_(mesh, prices, parts),
      prices_(prices),
      moves_(mesh, shape_, element_bytes, {.dims = dims_of(shape), .parts = parts}) {}

uint32_t LayoutGraph::add(const Layout& layout) {
  const auto [it, is_new] =
      by_key_.try_emplace(key_of(layout), static_cast<uint32_t>(layouts_.size()));
  if (!is_new) return it->second;
  const uint32_t state = it->second;
  layouts_.push_back(layout);
  for (uint32_t i = state; i < layouts_.size(); ++i) expand(i);
  return state;
}

void LayoutGraph::expand(uint32_t state) {
  const Layout at = layouts_[state];
  uint32_t partial = 0;
  for (int m = 0; m < kMaxMeshRank; ++m) partial |= uint32_t{at[m].is_partial()} << m;
  partial_.push_back(partial);
  levels_[static_cast<size_t>(std::popcount(partial))].push_back(state);
  uint16_t number = 0;
  for_each_move(at, [&](const MoveEdge& m, auto&& after) {
    const Layout next = after();
    const auto [it, is_new] =
        by_key_.try_emplace(key_of(next), static_cast<uint32_t>(layouts_.size()));
    if (is_new) layouts_.push_back(next);
    const double us =
        m.kind == CollectiveKind::kNone ? 0 : collectives_.us(m.kind, m.axes.mask(), m.bytes);
    edges_.push_back({it->second, number++, us + m.copies.us(prices_) + kPerMoveUs});
  });
  first_edge_.push_back(static_cast<uint32_t>(edges_.size()));
}

MoveEdge LayoutGraph::move(uint32_t state, const Edge& edge) const {
  MoveEdge wanted;
  uint16_t number = 0;
  for_each_move(layouts_[state], [&](const MoveEdge& m, auto&&) {
    if (number++ == edge.number) wanted = m;
  });
  return wanted;
}

std::vector<double> LayoutGraph::distances_to(uint32_t target) const {
  std::vector<double> us(num_states(), kUnreachable);
  us[target] = 0;
  relax_until_done(levels_, num_states(), [&](uint32_t s, auto&& is_new) {
    const double before = us[s];
    for (const Edge& e : edges(s))
      if (is_new(e.to)) us[s] = std::min(us[s], e.us + us[e.to]);
    return us[s] < before;
  });
  return us;
}

// Omits an edge if a path of two edges costs no more. All prices are positive, so each of the two
// edges is cheaper than the omitted one. So the omissions cannot depend on each other in a cycle.
void LayoutGraph::find_shortcuts() {
  first_shortcut_.assign(1, 0);
  shortcuts_.clear();
  std::vector<double> by_two(num_states(), kUnreachable);
  for (uint32_t s = 0; s < num_states(); ++s) {
    for (const Edge& e : edges(s))
      for (const Edge& f : edges(e.to)) by_two[f.to] = std::min(by_two[f.to], e.us + f.us);
    for (const Edge& e : edges(s))
      if (e.us < by_two[e.to]) shortcuts_.push_back({e.to, e.us});
    first_shortcut_.push_back(static_cast<uint32_t>(shortcuts_.size()));
    std::ranges::fill(by_two, kUnreachable);
  }
}

// Keeps the symmetries that map every state to a state of the graph. The prices from the image of
// one state to the image of another are then those between the two states.
void LayoutGraph::find_symmetries() {
  images_.clear();
  for (const MeshDimSwap& swap : prices_.symmetries) {
    std::vector<uint32_t> images;
    images.reserve(num_states());
    for (const Layout& layout : layouts_) {
      Layout image;
      for (size_t m = 0; m < swap.size(); ++m) {
        image[swap[m]] = layout[static_cast<int>(m)];
        image.order[m] = swap[layout.order[m]];
      }
      normalise(image);
      const auto at = by_key_.find(key_of(image));
      if (at == by_key_.end()) break;
      images.push_back(at->second);
    }
    if (images.size() == num_states()) images_.push_back(std::move(images));
  }
}

void LayoutGraph::derive() {
  if (derived_ == num_states()) return;
  find_shortcuts();
  find_symmetries();
  derived_ = num_states();
}

// Targets that are images of each other have the same column, except for the order of its rows. So
// only the column of the first of them is computed. Returns, by this state, the columns that it
// serves.
std::vector<std::vector<RouteColumn>> LayoutGraph::columns_of(std::span<const uint32_t> to) const {
  std::vector<std::vector<RouteColumn>> columns(num_states());
  for (uint32_t j = 0; j < to.size(); ++j) {
    RouteColumn column{j, RouteColumn::kOwn};
    uint32_t first = to[j];
    for (uint32_t s = 0; s < images_.size(); ++s)
      if (images_[s][to[j]] < first) first = images_[s][to[j]], column.symmetry = s;
    columns[first].push_back(column);
  }
  return columns;
}

void LayoutGraph::distances(std::span<const uint32_t> from, std::span<const uint32_t> to,
                            const Threads& threads, std::span<double> out) {
  derive();
  const std::vector<std::vector<RouteColumn>> columns = columns_of(to);
  // A mesh dim that is partial in a target must be partial along the whole route. So targets are
  // grouped by their set of partial mesh dims.
  std::vector<std::vector<uint32_t>> targets(size_t{1} << kMaxMeshRank);
  for (uint32_t s = 0; s < num_states(); ++s)
    if (!columns[s].empty()) targets[partial_[s]].push_back(s);
  std::vector<std::span<const uint32_t>> blocks;
  for (const std::vector<uint32_t>& t : targets)
    for (size_t first = 0; first < t.size(); first += kLanes)
      blocks.push_back(std::span(t).subspan(first, std::min(kLanes, t.size() - first)));

  const bool is_much = to.size() * num_states() > kWorthThreads;
  parallel_for(is_much ? threads : Threads(), blocks.size(), [&] {
    return [&, rows = std::vector<RouteLanes>(num_states())](size_t b) mutable {
      relax_block(blocks[b], rows);
      for (uint32_t s = 0; s <= images_.size(); ++s)
        write_columns(s < images_.size() ? s : RouteColumn::kOwn, blocks[b], columns, rows, from,
                      out);
    };
  });
}

// Writes the columns that a block serves through one symmetry. For each state in `from` they are
// read from the same row.
void LayoutGraph::write_columns(uint32_t symmetry, std::span<const uint32_t> block,
                                std::span<const std::vector<RouteColumn>> columns,
                                std::span<const RouteLanes> rows, std::span<const uint32_t> from,
                                std::span<double> out) const {
  std::vector<std::pair<uint32_t, uint32_t>> wanted;  // column and lane
  for (uint32_t t = 0; t < block.size(); ++t)
    for (const RouteColumn& c : columns[block[t]])
      if (c.symmetry == symmetry) wanted.emplace_back(c.of, t);
  if (wanted.empty()) return;
  const size_t width = out.size() / from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    const double* const us =
        rows[symmetry == RouteColumn::kOwn ? from[i] : images_[symmetry][from[i]]].us;
    double* const row = out.data() + i * width;
    for (const auto& [of, lane] : wanted) row[of] = us[lane];
  }
}

void LayoutGraph::relax_block(std::span<const uint32_t> to, std::vector<RouteLanes>& rows) const {
  RouteLanes none;
  std::ranges::fill(none.us, kUnreachable);
  std::ranges::fill(rows, none);
  for (size_t t = 0; t < to.size(); ++t) rows[to[t]].us[t] = 0;
  const uint32_t partial = partial_[to[0]];
  Levels levels;
  for (size_t l = 0; l < levels.size(); ++l)
    for (uint32_t s : levels_[l])
      if ((partial_[s] & partial) == partial) levels[l].push_back(s);
  std::vector<RelaxEdge> edges;
  relax_until_done(levels, num_states(), [&](uint32_t s, auto&& is_new) {
    edges.clear();
    for (uint32_t i = first_shortcut_[s]; i < first_shortcut_[s + 1]; ++i)
      if (const Shortcut& e = shortcuts_[i]; is_new(e.to)) edges.push_back({&rows[e.to], e.us});
    return !edges.empty() && relax(edges.data(), edges.data() + edges.size(), rows[s]);
  });
}

}  // namespace shw
