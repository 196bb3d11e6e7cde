// The redistribution planner: the cheapest way to bring a tensor from one layout into another.
//
// This is a shortest path over layouts, where an edge is one move (moves.h). On up to four mesh
// dims, it is found in the graph of all layouts of the tensor's type (layout_graph.h), which also
// gives the prices of all pairs of two lists at once. On more mesh dims, it is found by Dijkstra's
// algorithm for each pair (route_search.h). In addition to the moves of moves.h there is
//
//   rescale     P(sum) ↔ P(avg)  any set of mesh dims at once: a factor, no communication
//
// A chain of all-gathers over several mesh dims of one tensor dim never arises: the single
// collective over all of them is an edge of its own, and is never dearer than the chain. Weights
// are the model's times for the real local bytes. They include the copies around a collective on a
// dim that is not outermost in memory.
//
// The reference planner runs Dijkstra's algorithm over the same states, without combined groups.
#pragma once
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "redistribution/layout_graph.h"
#include "redistribution/mesh_parts.h"
#include "redistribution/move_prices.h"
#include "redistribution/moves.h"
#include "redistribution/route.h"
#include "redistribution/value_layouts.h"
#include "sharding/layout.h"
#include "support/parallel.h"
#include "support/status.h"

namespace shw {

class Redistributor {
 public:
  // `prices` must outlive it, and may be called by up to `threads` threads at once. If the mesh has
  // parts, routes use them where whole dims would cost more.
  Redistributor(const Mesh& mesh, const MovePrices& prices, Threads threads = {});
  Redistributor(const Redistributor&) = delete;  // parts refer to each other
  Redistributor& operator=(const Redistributor&) = delete;

  // Layouts must be canonical() and fit the shape evenly. INVALID_ARGUMENT: `to` is partial where
  // `from` is not partial in the same way, or partials of different kinds would have to be reduced
  // one after the other. UNIMPLEMENTED: no sequence of even blocks connects the layouts. The route
  // lives as long as the Redistributor.
  Result<const Route*> route(const Dims& shape, int64_t element_bytes, const Layout& from,
                             const Layout& to);

  // µs of the route between two layouts of any kind; infinite if there is none. Includes a tiny
  // term per move, so that of two routes of equal price the one with fewer moves is cheaper.
  double price(const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to);

  // The same for all pairs: out[i · to.size() + j] is from[i] → to[j].
  void prices(const Dims& shape, int64_t element_bytes, std::span<const Layout> from,
              std::span<const Layout> to, std::span<double> out);
  // Does the slow part of prices() for all these values at once, before prices() is called for
  // them.
  void prepare(std::span<const ValueLayouts> values);

  // An equivalent layout in normal form: mesh dims of size 1 are replicated, a masked partial
  // becomes P(sum), which it is once it has been made, and the order is normalised.
  Layout canonical(Layout layout) const;
  const Mesh& mesh() const { return mesh_; }
  const MovePrices& move_prices() const { return prices_; }

  // Prices of all pairs are fast enough on at most this many mesh dims larger than one. A tensor of
  // three dims has some 1500 layouts on four mesh dims, and ten thousand on five.
  static constexpr int kMaxAxes = 4;
  static bool has_graphs(const Mesh& mesh);

 private:
  struct Key {
    Dims shape;
    int64_t element_bytes;
    Layout from, to;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };
  struct TypeKey {
    Dims shape;
    int64_t element_bytes;
    bool operator==(const TypeKey&) const = default;
  };
  struct TypeKeyHash {
    size_t operator()(const TypeKey& k) const;
  };
  // What searches by parts of mesh dims need.
  struct ByParts {
    ByParts(const Mesh& mesh, const MovePrices& whole);
    ByParts(const ByParts&) = delete;  // parts refer to each other
    const MeshParts of;
    const MovePrices prices;
    CollectivePrices collectives;
  };
  // The graph of one type, either by whole mesh dims or by parts.
  struct Way {
    std::unique_ptr<LayoutGraph> graph;
    std::unordered_map<uint32_t, std::vector<double>> us_to;  // by target state
  };
  struct Type {
    Way whole, by_parts;
  };
  struct Ends {
    uint32_t from, to;  // states
    double us;
  };
  Type& type(const Dims& shape, int64_t element_bytes);
  const std::vector<double>& distances_to(Way& way, uint32_t target);
  Ends ends(Way& way, const Layout& from, const Layout& to);
  // The ends of the route by parts, if it is cheaper than `whole_us`.
  std::optional<Ends> by_parts(Type& type, const Dims& shape, const Layout& from, const Layout& to,
                               double whole_us);
  bool find_in_graph(const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to,
                     Route& route);
  template <class MakeMove>
  bool follow(Way& way, const Ends& ends, CollectivePrices& collectives, MakeMove&& make_move,
              Route& route);
  void lower_by_parts(Type& type, const Dims& shape, std::span<const Layout> from,
                      std::span<const Layout> to, std::span<double> out);

  const Mesh mesh_;
  const MovePrices& prices_;
  const Threads threads_;
  CollectivePrices collectives_;
  std::optional<ByParts> parts_;                    // none: the mesh has no parts
  std::unordered_map<Key, Route, KeyHash> routes_;  // look-up only, like all maps here
  std::unordered_map<TypeKey, Type, TypeKeyHash> types_;
};

}  // namespace shw
