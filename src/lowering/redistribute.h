// The redistribution planner: the cheapest way to bring a tensor from one layout into another.
//
// Dijkstra's algorithm over layouts. An edge is one collective, or a slice, on one tensor dim:
//
//   gather      S(d) → R      the mesh dims that cut d last, any number of them at once
//   all-to-all  S(d) → S(e)   the same; they then cut e last, in the order they had
//   scatter     P → S(e)      any set of mesh dims at once, in any order
//   reduce      P → R         any set of mesh dims at once
//   slice       R → S(e)      any set of mesh dims at once: no communication
//   rescale     P(sum) ↔ P(avg)  any set of mesh dims at once: a factor, no communication
//
// A mesh dim that cuts a tensor dim can leave it only together with those that cut it after, so
// that what a rank holds is one block at all times; the members of the group are numbered by the
// shard order. That is why an all-gather chain over several mesh dims of one tensor dim never
// arises: the single collective is an edge of its own, and never dearer than the chain: a combined
// collective may be run as one. Weights are the model's time on the real local bytes, with the
// copies around a collective on a dim that is not outermost in memory.
//
// After planner.md 5.2 (the reference runs Dijkstra over the same states, without combined groups)
// and passes.md 1.2.
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "lowering/prices.h"
#include "sharding/layout.h"
#include "support/status.h"

namespace shw {

struct Move {
  CollectiveKind kind = CollectiveKind::kNone;  // kNone: slice, or rescale
  ReduceOp op = ReduceOp::kSum;                 // of a reduction; rescale: what it becomes
  int from_dim = -1;  // gather, all-to-all: the tensor dim that is made whole
  int to_dim = -1;    // scatter, all-to-all, slice: the tensor dim that is cut; none: rescale
  std::vector<uint8_t> axes;  // the group, outermost first
  Layout after;
  double cost_us = 0;        // all of it
  double collective_us = 0;  // without copies
};

struct Route {
  std::vector<Move> moves;  // none: the layouts are the same
  double cost_us = 0;
};

class Redistributor {
 public:
  // `prices` must outlive it.
  Redistributor(const Mesh& mesh, const MovePrices& prices) : mesh_(mesh), prices_(prices) {}

  // Layouts must be canonical() and fit the shape evenly. INVALID_ARGUMENT: `to` is partial where
  // `from` is not equally so, or partials of different kinds would have to be reduced one after the
  // other; UNIMPLEMENTED: no sequence of even blocks leads there. The route lives as long as the
  // planner.
  Result<const Route*> route(const Dims& shape, int64_t element_bytes, const Layout& from,
                             const Layout& to);

  // The price of the route between two layouts of any kind, to the planner: slices are free to it.
  // Infinite where there is none.
  double route_us(const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to);

  // Layout without what changes nothing: on mesh dims of size 1 everything is replicated, a masked
  // partial is a sum as soon as it has been made, and the order is normalised.
  Layout canonical(Layout layout) const;
  const Mesh& mesh() const { return mesh_; }

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
  Mesh mesh_;
  const MovePrices& prices_;
  std::unordered_map<Key, Route, KeyHash> routes_;  // look-up only
};

}  // namespace shw
