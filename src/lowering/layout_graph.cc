#include "lowering/layout_graph.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "support/multiversion.h"

namespace shw {
namespace {

// Of two routes of equal price the one with fewer moves is better: each has overheads that no model
// knows. Far below any real difference of prices.
constexpr double kPerMoveUs = 1e-9;
// Of routes that differ in their slices only, the one that copies least.
constexpr double kSliceUs = 1e-12;

// A layout without strided shards in 60 bits: six bits a placement, three a place in the order.
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

// Columns that are relaxed together: the rows of all states then stay in the cache.
constexpr size_t kLanes = 32;

// A row takes what is cheaper by way of another row. Returns whether anything was.
SHW_MULTIVERSION bool relax(double us, const double* via, double* row) {
  int better = 0;
  for (size_t t = 0; t < kLanes; ++t) {
    const double candidate = us + via[t];
    better |= candidate < row[t];
    row[t] = candidate < row[t] ? candidate : row[t];
  }
  return better != 0;
}

// Rounds over the states of one level, level by level (no move makes a value partial, so that those
// with fewer partial placements never ask those with more), until no row gets better. A row is
// looked at again only by way of rows that changed since.
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

LayoutGraph::LayoutGraph(const Mesh& mesh, CollectivePrices& collectives, const MovePrices& prices,
                         const Dims& shape, int64_t element_bytes)
    : shape_(shape),
      collectives_(collectives),
      prices_(prices),
      moves_(mesh, shape_, element_bytes, {.dims = dims_of(shape)}) {}

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
  moves_.from(at, [&](const MoveEdge& m, auto&& after) {
    const Layout next = after();
    const auto [it, is_new] =
        by_key_.try_emplace(key_of(next), static_cast<uint32_t>(layouts_.size()));
    if (is_new) layouts_.push_back(next);
    const double copy_us = m.copied > 0 ? prices_.copy_us(m.copied) : 0;
    const double us = m.is_slice() ? kSliceUs * copy_us
                                   : collectives_.us(m.kind, m.axes.mask(), m.bytes) + copy_us;
    edges_.push_back({it->second, number++, m.is_slice() && m.axes.size() > 1, us + kPerMoveUs});
  });
  first_edge_.push_back(static_cast<uint32_t>(edges_.size()));
}

MoveEdge LayoutGraph::move(uint32_t state, const Edge& edge) const {
  MoveEdge wanted;
  uint16_t number = 0;
  moves_.from(layouts_[state], [&](const MoveEdge& m, auto&&) {
    if (number++ == edge.number) wanted = m;
  });
  return wanted;
}

std::vector<double> LayoutGraph::distances_to(uint32_t target) const {
  std::vector<double> us(num_states(), std::numeric_limits<double>::infinity());
  us[target] = 0;
  relax_until_done(levels_, num_states(), [&](uint32_t s, auto&& is_new) {
    const double before = us[s];
    for (const Edge& e : edges(s))
      if (is_new(e.to)) us[s] = std::min(us[s], e.us + us[e.to]);
    return us[s] < before;
  });
  return us;
}

// An edge as dear as two others in a row is left out. All prices are above zero, so that the two
// are cheaper each, and it cannot be that they were left out for its sake.
void LayoutGraph::find_shortcuts() {
  if (first_shortcut_.size() == num_states() + 1) return;
  first_shortcut_.assign(1, 0);
  shortcuts_.clear();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double> by_two(num_states(), kInfinite);
  for (uint32_t s = 0; s < num_states(); ++s) {
    for (const Edge& e : edges(s))
      for (const Edge& f : edges(e.to))
        if (!e.in_small_steps && !f.in_small_steps)
          by_two[f.to] = std::min(by_two[f.to], e.us + f.us);
    for (const Edge& e : edges(s))
      if (!e.in_small_steps && e.us < by_two[e.to]) shortcuts_.push_back({e.to, e.us});
    first_shortcut_.push_back(static_cast<uint32_t>(shortcuts_.size()));
    std::ranges::fill(by_two, kInfinite);
  }
}

void LayoutGraph::distances(std::span<const uint32_t> from, std::span<const uint32_t> to,
                            std::span<double> out) {
  find_shortcuts();
  // What is partial in a target must have been so all the way: one set of such mesh dims at a time.
  std::vector<std::vector<size_t>> columns(size_t{1} << kMaxMeshRank);
  for (size_t j = 0; j < to.size(); ++j) columns[partial_[to[j]]].push_back(j);
  std::vector<double> us(num_states() * kLanes);
  for (uint32_t partial = 0; partial < columns.size(); ++partial)
    for (size_t first = 0; first < columns[partial].size(); first += kLanes) {
      const auto block = std::span(columns[partial])
                             .subspan(first, std::min(kLanes, columns[partial].size() - first));
      relax_block(partial, block, to, us);
      for (size_t i = 0; i < from.size(); ++i)
        for (size_t t = 0; t < block.size(); ++t)
          out[i * to.size() + block[t]] = us[from[i] * kLanes + t];
    }
}

void LayoutGraph::relax_block(uint32_t partial, std::span<const size_t> columns,
                              std::span<const uint32_t> to, std::vector<double>& us) const {
  std::ranges::fill(us, std::numeric_limits<double>::infinity());
  for (size_t t = 0; t < columns.size(); ++t) us[to[columns[t]] * kLanes + t] = 0;
  Levels levels;
  for (size_t l = 0; l < levels.size(); ++l)
    for (uint32_t s : levels_[l])
      if ((partial_[s] & partial) == partial) levels[l].push_back(s);
  relax_until_done(levels, num_states(), [&](uint32_t s, auto&& is_new) {
    bool better = false;
    for (uint32_t i = first_shortcut_[s]; i < first_shortcut_[s + 1]; ++i)
      if (const Shortcut& e = shortcuts_[i]; is_new(e.to))
        better |= relax(e.us, &us[e.to * kLanes], &us[s * kLanes]);
    return better;
  });
}

}  // namespace shw
