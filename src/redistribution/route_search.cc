#include "redistribution/route_search.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "support/hash.h"

namespace shw {
namespace {

// The states found so far, and the edges out of each.
class Search {
 public:
  Search(const Mesh& mesh, const MovePrices& prices, CollectivePrices& collectives,
         const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to)
      : mesh_(mesh),
        prices_(prices),
        collectives_(collectives),
        shape_(shape),
        from_(from),
        to_(to),
        moves_(mesh, shape, element_bytes, {.dims = way_dims(shape), .toward = &to_}) {}

  bool run(Route& route) {
    visit(from_, 0, {}, 0);
    while (!queue_.empty()) {
      const auto [cost, index] = queue_.top();
      queue_.pop();
      if (states_[index].done) continue;
      states_[index].done = true;
      if (states_[index].layout == to_) {
        trace(index, route);
        return true;
      }
      expand(index);
    }
    return false;
  }

 private:
  struct State {
    Layout layout;
    double cost;
    uint32_t previous;
    MoveEdge by;
    double collective_us = 0, copy_us = 0;
    bool done = false;
  };
  struct Step {
    MoveEdge edge;
    double collective_us = 0, copy_us = 0;
  };

  // The tensor dims that may be cut along the route: those that the two layouts cut, and two others
  // for intermediate layouts. Further ones would give equivalent routes.
  std::vector<int> way_dims(const Dims& shape) const {
    uint32_t used = 0;
    for (int m = 0; m < mesh_.rank(); ++m)
      for (const Layout* l : {&from_, &to_})
        if ((*l)[m].is_shard()) used |= 1u << (*l)[m].dim();
    std::vector<int> dims;
    int others = 2;
    for (size_t d = 0; d < shape.size(); ++d)
      if ((used >> d & 1) || (shape[d] > 1 && others-- > 0)) dims.push_back(static_cast<int>(d));
    return dims;
  }

  void visit(const Layout& layout, double cost, const Step& by, uint32_t previous) {
    if (layout == to_) bound_ = cost;  // it is the cheapest so far
    const State state{layout, cost, previous, by.edge, by.collective_us, by.copy_us};
    const auto [it, fresh] = index_.try_emplace(layout, static_cast<uint32_t>(states_.size()));
    if (fresh)
      states_.push_back(state);
    else if (cost < states_[it->second].cost)
      states_[it->second] = state;
    else
      return;
    queue_.emplace(cost, it->second);
  }

  void trace(uint32_t index, Route& route) const {
    for (; index != 0; index = states_[index].previous) {
      const State& s = states_[index];
      add_move(route, plain_move(s.by, s.layout, shape_, mesh_), s.collective_us, s.copy_us);
    }
    std::reverse(route.moves.begin(), route.moves.end());
  }

  void expand(uint32_t index) {
    const Layout at = states_[index].layout;
    const auto take_move = [&](const MoveEdge& m, auto&& after) { take(index, m, after); };
    moves_.from(at, take_move);
    if (is_first_of_its_blocks(at)) moves_.permutes(at, take_move);
    rescale(index, at);
  }

  // Permutes connect all layouts that cut the same blocks. The first of them to be expanded is the
  // cheapest to reach. So only its permutes are needed.
  bool is_first_of_its_blocks(const Layout& at) {
    uint64_t partial = 0;
    for (int m = 0; m < mesh_.rank(); ++m)
      if (at[m].is_partial()) partial |= (uint64_t{at[m].arg} + 1) << (4 * m);
    return blocks_.insert(hash_span(local_shape(shape_, at, mesh_).span(), partial)).second;
  }

  // `after` returns the layout after the move. It is called only if the route so far is cheap
  // enough.
  template <class After>
  void take(uint32_t index, const MoveEdge& edge, After&& after) {
    Step step{edge, 0, 0};
    if (edge.kind != CollectiveKind::kNone)
      step.collective_us = collectives_.us(edge.kind, edge.axes.mask(), edge.bytes);
    double cost = states_[index].cost + step.collective_us + kPerMoveUs;
    if (cost >= bound_) return;
    step.copy_us = edge.copies.us(prices_);
    cost += step.copy_us;
    if (cost < bound_) visit(after(), cost, step, index);
  }

  // P(sum) ↔ P(avg), any set of mesh dims at once: a factor, no communication.
  void rescale(uint32_t index, const Layout& at) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) {
      Layout after = at;
      Axes axes;
      for (uint8_t m = 0; m < mesh_.rank(); ++m) {
        if (to_[m] != Placement::partial(op) || at[m] == to_[m] || !is_linear(at[m])) continue;
        after[m] = to_[m];
        axes.push_back(m);
      }
      if (axes.size() != 0)
        take(index, {CollectiveKind::kNone, op, -1, -1, axes, 0, CopyBytes(moves_.piece_bytes(at))},
             [&] { return after; });
    }
  }

  const Mesh& mesh_;
  const MovePrices& prices_;
  CollectivePrices& collectives_;
  const Dims shape_;
  const Layout from_, to_;
  const MoveMaker moves_;
  double bound_ = std::numeric_limits<double>::infinity();  // cost of the best route to `to`
  std::vector<State> states_;                               // number 0 is `from`
  std::unordered_map<Layout, uint32_t, LayoutHash> index_;  // look-up only
  std::unordered_set<uint64_t> blocks_;  // hashes of blocks whose permutes were offered
  std::priority_queue<std::pair<double, uint32_t>, std::vector<std::pair<double, uint32_t>>,
                      std::greater<>>
      queue_;  // on equal costs, the state found first
};

}  // namespace

Move plain_move(const MoveEdge& m, const Layout& after, const Dims& shape, const Mesh& mesh) {
  return {m.kind,
          m.op,
          m.from_dim,
          m.to_dim,
          {m.axes.begin(), m.axes.end()},
          {m.to_axes.begin(), m.to_axes.end()},
          m.several,
          local_shape(shape, after, mesh),
          after};
}

void add_move(Route& route, Move move, double collective_us, double copy_us) {
  move.collective_us = collective_us;
  move.cost_us = collective_us + copy_us;
  route.cost_us += move.cost_us;
  route.moves.push_back(std::move(move));
}

bool search_route(const Mesh& mesh, const MovePrices& prices, CollectivePrices& collectives,
                  const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to,
                  Route& route) {
  return Search(mesh, prices, collectives, shape, element_bytes, from, to).run(route);
}

}  // namespace shw
