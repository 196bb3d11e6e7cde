// The redistribution planner: the cheapest way to bring a tensor from one layout into another.
//
// A shortest path over layouts; an edge is one move (moves.h). On up to four mesh dims it is found
// in the graph of all layouts of the tensor's type (layout_graph.h), which also answers for all
// pairs of two lists at once; beyond that by Dijkstra's algorithm from the one to the other.
// Besides the moves that bring about shards and replicas there is
//
//   rescale     P(sum) ↔ P(avg)  any set of mesh dims at once: a factor, no communication
//
// An all-gather chain over several mesh dims of one tensor dim never arises: the single collective
// is an edge of its own, and never dearer than the chain: a combined collective may be run as one.
// Weights are the model's time on the real local bytes, with the copies around a collective on a
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
  // `prices` must outlive it, and may be asked by as many threads at once.
  // Routes use the parts that the mesh has, where the way by whole dims costs more.
  Redistributor(const Mesh& mesh, const MovePrices& prices, Threads threads = {});
  Redistributor(const Redistributor&) = delete;  // parts refer to each other
  Redistributor& operator=(const Redistributor&) = delete;

  // Layouts must be canonical() and fit the shape evenly. INVALID_ARGUMENT: `to` is partial where
  // `from` is not equally so, or partials of different kinds would have to be reduced one after the
  // other; UNIMPLEMENTED: no sequence of even blocks leads there. The route lives as long as the
  // planner.
  Result<const Route*> route(const Dims& shape, int64_t element_bytes, const Layout& from,
                             const Layout& to);

  // µs of the route between two layouts of any kind; infinite where there is none. A term far below
  // any price of a move counts the moves.
  double price(const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to);

  // The same for all pairs: out[i · to.size() + j] is from[i] → to[j].
  void prices(const Dims& shape, int64_t element_bytes, std::span<const Layout> from,
              std::span<const Layout> to, std::span<double> out);
  // Does what is long about prices() for all of these at once, which it will be asked about.
  void prepare(std::span<const ValueLayouts> values);

  // Layout without what changes nothing: on mesh dims of size 1 everything is replicated, a masked
  // partial is a sum as soon as it has been made, and the order is normalised.
  Layout canonical(Layout layout) const;
  const Mesh& mesh() const { return mesh_; }
  const MovePrices& move_prices() const { return prices_; }

  // Whether prices of all pairs are to be had in useful time: up to four mesh dims larger than one.
  // All layouts of a tensor of three dims on four mesh dims are some 1500, on five ten thousand.
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
  // What searches by parts of mesh dims go by.
  struct ByParts {
    ByParts(const Mesh& mesh, const MovePrices& whole);
    ByParts(const ByParts&) = delete;  // parts refer to each other
    const MeshParts of;
    const MovePrices prices;
    CollectivePrices collectives;
  };
  // Layouts of one type, of the whole mesh dims or by their parts.
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
  // The way by parts, if it is the cheaper one.
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
