#include "lowering/redistribute.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <unordered_set>

#include "sharding/unfolding.h"
#include "support/hash.h"

namespace shw {
namespace {

// Of two routes of equal price the one with fewer moves is better: each has overheads that no model
// knows. Far below any real difference of prices.
constexpr double kPerMoveUs = 1e-9;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool is_linear(Placement p) {
  return p == Placement::partial(ReduceOp::kSum) || p == Placement::partial(ReduceOp::kAvg);
}

void add_move(Route& route, const MoveEdge& m, const Layout& after, double collective_us,
              double cost_us) {
  route.moves.push_back({m.kind,
                         m.op,
                         m.from_dim,
                         m.to_dim,
                         {m.axes.begin(), m.axes.end()},
                         {m.to_axes.begin(), m.to_axes.end()},
                         after,
                         cost_us,
                         collective_us});
  route.cost_us += cost_us;
}

// One search: the states met so far, and the edges out of each. For what a LayoutGraph would be too
// large for, so it leaves out what rarely helps: of the orders in which many mesh dims cut a tensor
// dim two are tried, and of tensor dims that neither layout cuts two.
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
    double collective_us = 0, cost_us = 0;
    bool done = false;
  };
  struct LayoutHash {
    size_t operator()(const Layout& l) const { return hash_of(l); }
  };
  struct Step {
    MoveEdge edge;
    double collective_us = 0, cost_us = 0;
  };

  // Tensor dims that may be cut on the way: those of the two layouts, and two others as way
  // stations (more are alike).
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
    const State state{layout, cost, previous, by.edge, by.collective_us, by.cost_us};
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
      add_move(route, s.by, s.layout, s.collective_us, s.cost_us);
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

  // Of all layouts that cut the same blocks, the first one to be expanded was the cheapest to
  // reach, and permutes lead from it to all others: those of the others are not needed.
  bool is_first_of_its_blocks(const Layout& at) {
    uint64_t partial = 0;
    for (int m = 0; m < mesh_.rank(); ++m)
      if (at[m].is_partial()) partial |= (uint64_t{at[m].arg} + 1) << (4 * m);
    return blocks_.insert(hash_span(local_shape(shape_, at, mesh_).span(), partial)).second;
  }

  // `after` gives the layout that the edge leads to; asked only if the price is worth it.
  template <class After>
  void take(uint32_t index, const MoveEdge& edge, After&& after) {
    Step step{edge, 0, 0};
    if (edge.kind != CollectiveKind::kNone)
      step.collective_us = collectives_.us(edge.kind, edge.axes.mask(), edge.bytes);
    step.cost_us = step.collective_us;
    if (states_[index].cost + step.cost_us >= bound_) return;
    if (edge.copied > 0) step.cost_us += prices_.copy_us(edge.copied);
    const double cost = states_[index].cost + step.cost_us + kPerMoveUs;
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
        take(index, {CollectiveKind::kNone, op, -1, -1, axes, 0, moves_.piece_bytes(at)},
             [&] { return after; });
    }
  }

  const Mesh& mesh_;
  const MovePrices& prices_;
  CollectivePrices& collectives_;
  const Dims shape_;
  const Layout from_, to_;
  const MoveMaker moves_;
  double bound_ = std::numeric_limits<double>::infinity();  // of a way to `to`
  std::vector<State> states_;                               // number 0 is `from`
  std::unordered_map<Layout, uint32_t, LayoutHash> index_;  // look-up only
  std::unordered_set<uint64_t> blocks_;  // hashes of blocks of which permutes were offered
  std::priority_queue<std::pair<double, uint32_t>, std::vector<std::pair<double, uint32_t>>,
                      std::greater<>>
      queue_;  // of equal costs the state that was met first
};

// Whether reductions of different kinds meet that do not commute.
bool mixes_reductions(const Layout& layout, const Mesh& mesh) {
  bool linear = true;
  uint32_t kinds = 0;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!layout[m].is_partial()) continue;
    linear &= is_linear(layout[m]);
    kinds |= 1u << layout[m].arg;
  }
  return !linear && std::popcount(kinds) > 1;
}

bool reduces(const Layout& from, const Layout& to, const Mesh& mesh) {
  for (int m = 0; m < mesh.rank(); ++m)
    if (from[m].is_partial() && from[m] != to[m]) return true;
  return false;
}

// A consumer may ask for a partial value only where it is one already; sums and averages turn into
// each other.
Status check_partials(const Layout& from, const Layout& to, const Mesh& mesh) {
  for (int m = 0; m < mesh.rank(); ++m)
    if (to[m].is_partial() && from[m] != to[m] && !(is_linear(from[m]) && is_linear(to[m])))
      return invalid_argument("a value that lies as " + to_string(from, mesh.rank()) +
                              " is asked for as " + to_string(to, mesh.rank()) +
                              ": only the operation that makes a partial value can make one");
  if (mixes_reductions(from, mesh) && reduces(from, to, mesh))
    return invalid_argument("a value that lies as " + to_string(from, mesh.rank()) +
                            " has no single meaning: its reductions do not commute");
  return {};
}

// Whether sums are to become averages, or averages sums.
bool rescales(const Layout& from, const Layout& to, const Mesh& mesh) {
  for (int m = 0; m < mesh.rank(); ++m)
    if (to[m].is_partial() && from[m] != to[m]) return true;
  return false;
}

}  // namespace

size_t Redistributor::TypeKeyHash::operator()(const TypeKey& k) const {
  return hash_span(k.shape.span(), static_cast<uint64_t>(k.element_bytes));
}

size_t Redistributor::KeyHash::operator()(const Key& k) const {
  return hash_combine(hash_combine(hash_of(k.from), hash_of(k.to)),
                      hash_span(k.shape.span(), static_cast<uint64_t>(k.element_bytes)));
}

Layout Redistributor::canonical(Layout layout) const {
  for (int m = 0; m < kMaxMeshRank; ++m) {
    if (m >= mesh_.rank() || mesh_.size(m) == 1)
      layout[m] = Placement::replicate();
    else if (layout[m].kind == Placement::Kind::kMasked)
      layout[m] = Placement::partial();
  }
  return normalised(layout);
}

bool Redistributor::has_graphs(const Mesh& mesh) {
  // All layouts of a tensor of three dims on four mesh dims are some 1500, on five ten thousand.
  constexpr int kMaxAxes = 4;
  int axes = 0;
  for (int m = 0; m < mesh.rank(); ++m) axes += mesh.size(m) > 1;
  return axes <= kMaxAxes;
}

Redistributor::Type& Redistributor::type(const Dims& shape, int64_t element_bytes) {
  Type& type = types_[{shape, element_bytes}];
  if (!type.graph) type.graph = std::make_unique<LayoutGraph>(mesh_, prices_, shape, element_bytes);
  return type;
}

bool Redistributor::find_in_graph(const Dims& shape, int64_t element_bytes, const Layout& from,
                                  const Layout& to, Route& route) {
  Type& t = type(shape, element_bytes);
  const LayoutGraph& graph = *t.graph;
  uint32_t at = t.graph->add(from);
  const uint32_t end = t.graph->add(to);
  const std::vector<double>& us = distances_to(t, end);
  if (us[at] == kInfinite) return false;
  while (at != end) {
    // The edge by which the distance came about: of equal ones the first.
    const auto edges = graph.edges(at);
    const auto e = std::find_if(edges.begin(), edges.end(), [&](const LayoutGraph::Edge& edge) {
      return edge.us + us[edge.to] == us[at];
    });
    if (e == edges.end()) return false;
    const MoveEdge move = graph.move(at, *e);
    const double collective_us = move.kind == CollectiveKind::kNone
                                     ? 0
                                     : collectives_.us(move.kind, move.axes.mask(), move.bytes);
    const double copy_us = move.copied > 0 ? prices_.copy_us(move.copied) : 0;
    add_move(route, move, graph.layout(e->to), collective_us, collective_us + copy_us);
    at = e->to;
  }
  return true;
}

Result<const Route*> Redistributor::route(const Dims& shape, int64_t element_bytes,
                                          const Layout& from, const Layout& to) {
  static const Route kStay;
  if (from == to) return &kStay;
  const Key key{shape, element_bytes, from, to};
  if (const auto it = routes_.find(key); it != routes_.end()) return &it->second;
  SHW_RETURN_IF_ERROR(check_partials(from, to, mesh_));
  Route route;
  const bool found =
      has_graphs(mesh_) && !rescales(from, to, mesh_)
          ? find_in_graph(shape, element_bytes, from, to, route)
          : Search(mesh_, prices_, collectives_, shape, element_bytes, from, to).run(route);
  if (!found)
    return unimplemented("no sequence of even blocks leads from " + to_string(from, mesh_.rank()) +
                         " to " + to_string(to, mesh_.rank()));
  return &routes_.emplace(key, std::move(route)).first->second;  // nodes of the map stay in place
}

double Redistributor::graph_us(const Dims& shape, int64_t element_bytes, const Layout& from,
                               const Layout& to) {
  Type& t = type(shape, element_bytes);
  const uint32_t at = t.graph->add(canonical(from)), end = t.graph->add(canonical(to));
  return distances_to(t, end)[at];
}

const std::vector<double>& Redistributor::distances_to(Type& type, uint32_t target) {
  std::vector<double>& us = type.us_to[target];
  if (us.size() < type.graph->num_states()) us = type.graph->distances_to(target);
  return us;
}

double Redistributor::route_us(const Dims& shape, int64_t element_bytes, const Layout& from,
                               const Layout& to) {
  const Layout a = canonical(from), b = canonical(to);
  const auto u = Unfolding::of(shape, mesh_, {a, b});
  if (!u) return kInfinite;
  const auto found = route(u->shape(), element_bytes, u->unfolded(a), u->unfolded(b));
  if (!found.ok()) return kInfinite;
  double us = 0;
  for (const Move& move : (*found)->moves)
    if (move.kind != CollectiveKind::kNone || move.to_dim < 0) us += move.cost_us;
  return us;
}

void Redistributor::prepare(std::span<const ValueLayouts> values) {
  if (!has_graphs(mesh_)) return;
  std::vector<LayoutGraph*> graphs;
  for (const ValueLayouts& v : values) graphs.push_back(type(v.shape, v.element_bytes).graph.get());
  parallel_for(threads_, values.size(), [&] {
    return [&](size_t i) {
      for (const Layout& l : values[i].layouts)
        if (!l.has_strided()) graphs[i]->add(canonical(l));
      graphs[i]->derive();
    };
  });
}

void Redistributor::route_prices(const Dims& shape, int64_t element_bytes,
                                 std::span<const Layout> from, std::span<const Layout> to,
                                 std::span<double> out) {
  const auto strided = [](const Layout& l) { return l.has_strided(); };
  if (!has_graphs(mesh_) || std::any_of(from.begin(), from.end(), strided) ||
      std::any_of(to.begin(), to.end(), strided)) {
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t j = 0; j < to.size(); ++j)
        out[i * to.size() + j] = route_us(shape, element_bytes, from[i], to[j]);
    return;
  }
  if (out.size() == 1) {
    out[0] = graph_us(shape, element_bytes, from[0], to[0]);
  } else {
    LayoutGraph& graph = *type(shape, element_bytes).graph;
    std::vector<uint32_t> rows, columns;
    for (const Layout& l : from) rows.push_back(graph.add(canonical(l)));
    for (const Layout& l : to) columns.push_back(graph.add(canonical(l)));
    graph.distances(rows, columns, threads_, out);
  }
  for (size_t i = 0; i < from.size(); ++i)
    for (size_t j = 0; mixes_reductions(from[i], mesh_) && j < to.size(); ++j)
      if (reduces(from[i], to[j], mesh_)) out[i * to.size() + j] = kInfinite;
}

}  // namespace shw
