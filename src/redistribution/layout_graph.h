// A graph of all layouts that one value can have, with the moves between them as edges. It gives
// the prices of all pairs of two lists of layouts at once, and the routes that have exactly these
// prices.
//
// Its nodes, called states, are the requested layouts and all layouts that moves reach from them.
// Distances to a set of targets are found by Bellman-Ford: each round relaxes whole rows, with one
// column per target, until nothing changes. Routes have only a few moves, so a few rounds suffice.
// No move is pruned for a particular pair of layouts: a mesh dim that ends as it began may change
// in between. For example, a reduction may be cheaper in slices that are gathered afterwards. Mesh
// dims may be interchangeable, such as three dims of two ranks within a node. Then only one of the
// targets that differ by exchanging them is computed.
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
struct RouteColumn;  // a target of such prices

// The price of what cannot be reached.
inline constexpr double kUnreachable = std::numeric_limits<double>::infinity();

class LayoutGraph {
 public:
  struct Edge {
    uint32_t to;      // state
    uint16_t number;  // of the move among those of its state
    double us;
  };

  // All references must outlive it.
  // `parts`: as in MoveMaker::Limits.
  LayoutGraph(const Mesh& mesh, const MovePrices& prices, const Dims& shape, int64_t element_bytes,
              const Siblings* parts = nullptr);

  // The state of a layout. Adds the layout and all layouts that can be reached from it, if they are
  // new.
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
  // Derives what distances() needs for all states. distances() calls it if necessary.
  void derive();
  // The same for all pairs: out[i · to.size() + j] is from[i] → to[j]. Uses at most `threads`.
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
  // Distances to these states, one lane each, from all states that are partial along every mesh dim
  // along which the targets are.
  void relax_block(std::span<const uint32_t> to, std::vector<RouteLanes>& rows) const;

  const Dims shape_;
  CollectivePrices collectives_;
  const MovePrices& prices_;
  const MoveMaker moves_;
  std::vector<Layout> layouts_;
  std::vector<uint32_t> first_edge_{0};
  std::vector<Edge> edges_;
  // The edges that are cheaper than every path of two edges with the same ends: shortest paths need
  // only these.
  std::vector<uint32_t> first_shortcut_;
  std::vector<Shortcut> shortcuts_;
  std::vector<uint32_t> partial_;  // by state: a bit for each mesh dim along which it is partial
  Levels levels_;
  // By symmetry of the prices: the state to which it maps each state.
  std::vector<std::vector<uint32_t>> images_;
  size_t derived_ = 0;  // number of states whose shortcuts and images are known
  std::unordered_map<uint64_t, uint32_t> by_key_;  // look-up only
};

}  // namespace shw
