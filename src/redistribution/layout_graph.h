// All layouts that one value can take, and the moves between them, as a flat graph: for the prices
// of all pairs of two lists at once, and for the routes that cost exactly these.
//
// Nodes are the layouts that moves lead to from those that were asked for. Distances to a set of
// targets are found by relaxing whole rows, one column a target, until nothing changes
// (Bellman-Ford); routes are a handful of moves long, so a few rounds suffice. Nothing is pruned by
// what a particular pair needs: mesh dims that end as they began may change in between, as where a
// reduction is cheaper in slices that are gathered afterwards. Where mesh dims can stand for each
// other, as three of two ranks within a node, only one of the targets that differ in them is
// computed.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "redistribution/move_prices.h"
#include "redistribution/moves.h"
#include "support/parallel.h"

namespace shw {

struct RouteLanes;   // prices from one state to several
struct RouteColumn;  // where such prices are wanted

// The price of what cannot be reached.
inline constexpr double kUnreachable = std::numeric_limits<double>::infinity();

class LayoutGraph {
 public:
  struct Edge {
    uint32_t to;      // state
    uint16_t number;  // of the move, among those of its state
    double us;
  };

  // All references must outlive it.
  // `parts`: as in MoveMaker::Limits.
  LayoutGraph(const Mesh& mesh, const MovePrices& prices, const Dims& shape, int64_t element_bytes,
              const Siblings* parts = nullptr);

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
  // What distances() needs of all states, once; it does so itself where it has to.
  void derive();
  // The same for all pairs, out[i · to.size() + j] is from[i] → to[j]; on as many threads at most.
  void distances(std::span<const uint32_t> from, std::span<const uint32_t> to,
                 const Threads& threads, std::span<double> out);

 private:
  using Levels = std::array<std::vector<uint32_t>, kMaxMeshRank + 1>;  // by partial placements
  struct Shortcut {
    uint32_t to;
    double us;
  };
  template <class Visit>
  void for_each_move(const Layout& at, Visit&& visit) const {
    moves_.from(at, visit);
    moves_.permutes(at, visit);
  }
  void expand(uint32_t state);
  void find_shortcuts();
  void find_symmetries();
  std::vector<std::vector<RouteColumn>> columns_of(std::span<const uint32_t> to) const;
  void write_columns(uint32_t symmetry, std::span<const uint32_t> block,
                     std::span<const std::vector<RouteColumn>> columns,
                     std::span<const RouteLanes> rows, std::span<const uint32_t> from,
                     std::span<double> out) const;
  // Distances to these states, a lane each, from all that are partial where they all are.
  void relax_block(std::span<const uint32_t> to, std::vector<RouteLanes>& rows) const;

  const Dims shape_;
  CollectivePrices collectives_;
  const MovePrices& prices_;
  const MoveMaker moves_;
  std::vector<Layout> layouts_;
  std::vector<uint32_t> first_edge_{0};
  std::vector<Edge> edges_;
  // The edges that no path of two others undercuts: shortest paths need only these.
  std::vector<uint32_t> first_shortcut_;
  std::vector<Shortcut> shortcuts_;
  std::vector<uint32_t> partial_;  // by state: a bit for each mesh dim along which it is partial
  Levels levels_;
  // Where symmetries of the prices take each state.
  std::vector<std::vector<uint32_t>> images_;
  size_t derived_ = 0;                             // states of which shortcuts and images are known
  std::unordered_map<uint64_t, uint32_t> by_key_;  // look-up only
};

}  // namespace shw
