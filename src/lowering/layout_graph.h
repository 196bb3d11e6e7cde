// All layouts that one value can take, and the moves between them, as a flat graph: for the prices
// of all pairs of two lists at once, and for the routes that cost exactly these.
//
// Nodes are the layouts that moves lead to from those that were asked for. Distances to a set of
// targets are found by relaxing whole rows, one column a target, until nothing changes
// (Bellman-Ford); routes are a handful of moves long, so a few rounds do. Nothing is pruned by what
// a particular pair needs: mesh dims that end as they began may move too, as where a reduction is
// cheaper in slices that are gathered afterwards.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "lowering/moves.h"
#include "lowering/prices.h"

namespace shw {

class LayoutGraph {
 public:
  struct Edge {
    uint32_t to;          // state
    uint16_t number;      // of the move, among those of its state
    bool in_small_steps;  // a slice of several mesh dims: as cheap as one after another
    double us;            // slices are next to free to the planner, and so here
  };

  // All that is lent must outlive it.
  LayoutGraph(const Mesh& mesh, CollectivePrices& collectives, const MovePrices& prices,
              const Dims& shape, int64_t element_bytes);

  // The state of a layout, which is added with all that can be reached from it.
  uint32_t add(const Layout& layout);
  size_t num_states() const { return layouts_.size(); }
  const Layout& layout(uint32_t state) const { return layouts_[state]; }
  std::span<const Edge> edges(uint32_t state) const {
    return std::span(edges_).subspan(first_edge_[state],
                                     first_edge_[state + 1] - first_edge_[state]);
  }
  MoveEdge move(uint32_t state, const Edge& edge) const;

  // µs by state of the cheapest route to the target; infinite: there is none.
  std::vector<double> distances_to(uint32_t target) const;
  // The same for all pairs, out[i · to.size() + j] is from[i] → to[j].
  void distances(std::span<const uint32_t> from, std::span<const uint32_t> to,
                 std::span<double> out);

 private:
  using Levels = std::array<std::vector<uint32_t>, kMaxMeshRank + 1>;  // by partial placements
  struct Shortcut {
    uint32_t to;
    double us;
  };
  void expand(uint32_t state);
  void find_shortcuts();
  // Distances to some of `to`, a lane each, from all states that are partial where these are.
  void relax_block(uint32_t partial, std::span<const size_t> columns, std::span<const uint32_t> to,
                   std::vector<double>& us) const;

  const Dims shape_;
  CollectivePrices& collectives_;
  const MovePrices& prices_;
  const MoveMaker moves_;
  std::vector<Layout> layouts_;
  std::vector<uint32_t> first_edge_{0};
  std::vector<Edge> edges_;
  // Of the edges those that no two others undercut: they have the same shortest ways.
  std::vector<uint32_t> first_shortcut_;
  std::vector<Shortcut> shortcuts_;
  std::vector<uint32_t> partial_;  // by state: a bit for each mesh dim along which it is partial
  Levels levels_;
  std::unordered_map<uint64_t, uint32_t> by_key_;  // look-up only
};

}  // namespace shw
