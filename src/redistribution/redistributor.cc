#include "redistribution/redistributor.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "redistribution/route_search.h"
#include "sharding/unfolding.h"
#include "support/hash.h"

namespace shw {
namespace {

// Whether the layout has reductions of different kinds that do not commute.
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

// A consumer may require a partial placement only where the value is already partial in the same
// way. Sums and averages can be converted into each other.
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

// Whether sums must become averages, or averages sums.
bool rescales(const Layout& from, const Layout& to, const Mesh& mesh) {
  for (int m = 0; m < mesh.rank(); ++m)
    if (to[m].is_partial() && from[m] != to[m]) return true;
  return false;
}

// Prices of the same moves, added in another order, may differ in their last bits.
bool is_cheaper(double us, double than_us) { return us < than_us * (1 - 1e-9); }

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
  int axes = 0;
  for (int m = 0; m < mesh.rank(); ++m) axes += mesh.size(m) > 1;
  return axes <= kMaxAxes;
}

Redistributor::ByParts::ByParts(const Mesh& mesh, const MovePrices& whole)
    : of(mesh),
      prices{[this, &whole](CollectiveKind kind, uint32_t mask, int64_t bytes) {
               return whole.collective_us(kind, of.axes_mask(mask), bytes);
             },
             whole.copy_us},
      collectives(of.mesh(), prices, &of.siblings()) {}

Redistributor::Redistributor(const Mesh& mesh, const MovePrices& prices, Threads threads)
    : mesh_(mesh), prices_(prices), threads_(threads), collectives_(mesh_, prices_) {
  if (mesh.num_parts() > 0) parts_.emplace(mesh, prices_);
}

Redistributor::Type& Redistributor::type(const Dims& shape, int64_t element_bytes) {
  Type& type = types_[{shape, element_bytes}];
  if (type.whole.graph) return type;
  type.whole.graph = std::make_unique<LayoutGraph>(mesh_, prices_, shape, element_bytes);
  if (parts_)
    type.by_parts.graph = std::make_unique<LayoutGraph>(parts_->of.mesh(), parts_->prices, shape,
                                                        element_bytes, &parts_->of.siblings());
  return type;
}

const std::vector<double>& Redistributor::distances_to(Way& way, uint32_t target) {
  std::vector<double>& us = way.us_to[target];
  if (us.size() < way.graph->num_states()) us = way.graph->distances_to(target);
  return us;
}

Redistributor::Ends Redistributor::ends(Way& way, const Layout& from, const Layout& to) {
  const uint32_t first = way.graph->add(from), last = way.graph->add(to);
  return {first, last, distances_to(way, last)[first]};
}

std::optional<Redistributor::Ends> Redistributor::by_parts(Type& type, const Dims& shape,
                                                           const Layout& from, const Layout& to,
                                                           double whole_us) {
  if (!parts_) return std::nullopt;
  const auto first = parts_->of.by_parts(from, shape), last = parts_->of.by_parts(to, shape);
  if (!first || !last) return std::nullopt;
  const Ends found = ends(type.by_parts, *first, *last);
  return is_cheaper(found.us, whole_us) ? std::optional(found) : std::nullopt;
}

template <class MakeMove>
bool Redistributor::follow(Way& way, const Ends& ends, CollectivePrices& collectives,
                           MakeMove&& make_move, Route& route) {
  const LayoutGraph& graph = *way.graph;
  const std::vector<double>& us = distances_to(way, ends.to);
  for (uint32_t at = ends.from; at != ends.to;) {
    // The first edge that gives the distance of this state.
    const auto edges = graph.edges(at);
    const auto e = std::find_if(edges.begin(), edges.end(), [&](const LayoutGraph::Edge& edge) {
      return edge.us + us[edge.to] == us[at];
    });
    if (e == edges.end()) return false;
    const MoveEdge move = graph.move(at, *e);
    const double collective_us = move.kind == CollectiveKind::kNone
                                     ? 0
                                     : collectives.us(move.kind, move.axes.mask(), move.bytes);
    add_move(route, make_move(move, graph.layout(e->to)), collective_us, move.copies.us(prices_));
    at = e->to;
  }
  return true;
}

bool Redistributor::find_in_graph(const Dims& shape, int64_t element_bytes, const Layout& from,
                                  const Layout& to, Route& route) {
  Type& t = type(shape, element_bytes);
  const Ends whole = ends(t.whole, from, to);
  if (const std::optional<Ends> parts = by_parts(t, shape, from, to, whole.us))
    return follow(
        t.by_parts, *parts, parts_->collectives,
        [&](const MoveEdge& edge, const Layout& after) {
          Move move = plain_move(edge, after, shape, parts_->of.mesh());
          parts_->of.rename(edge, move.axes, move.to_axes);
          move.after = parts_->of.whole(after);
          return move;
        },
        route);
  if (whole.us == kUnreachable) return false;
  return follow(
      t.whole, whole, collectives_,
      [&](const MoveEdge& edge, const Layout& after) {
        return plain_move(edge, after, shape, mesh_);
      },
      route);
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
          : search_route(mesh_, prices_, collectives_, shape, element_bytes, from, to, route);
  if (!found)
    return unimplemented("no sequence of even blocks leads from " + to_string(from, mesh_.rank()) +
                         " to " + to_string(to, mesh_.rank()));
  return &routes_.emplace(key, std::move(route)).first->second;  // nodes of the map stay in place
}

double Redistributor::price(const Dims& shape, int64_t element_bytes, const Layout& from,
                            const Layout& to) {
  const Layout a = canonical(from), b = canonical(to);
  if (a == b) return 0;
  const auto u = Unfolding::of(shape, mesh_, {a, b});
  if (!u) return kUnreachable;
  const auto found = route(u->shape(), element_bytes, u->unfolded(a), u->unfolded(b));
  if (!found.ok()) return kUnreachable;
  return (*found)->cost_us + kPerMoveUs * static_cast<double>((*found)->moves.size());
}

void Redistributor::prepare(std::span<const ValueLayouts> values) {
  if (!has_graphs(mesh_)) return;
  struct Work {  // of one type: several values may share it
    Type* type;
    std::vector<const ValueLayouts*> values;
  };
  std::vector<Work> works;
  for (const ValueLayouts& v : values) {
    Type* const t = &type(v.shape, v.element_bytes);
    auto work = std::ranges::find(works, t, &Work::type);
    if (work == works.end()) work = works.insert(work, {t, {}});
    work->values.push_back(&v);
  }
  parallel_for(threads_, works.size(), [&] {
    return [&](size_t i) {
      LayoutGraph *const whole = works[i].type->whole.graph.get(),
                         *const parts = works[i].type->by_parts.graph.get();
      for (const ValueLayouts* v : works[i].values)
        for (const Layout& l : v->layouts) {
          if (l.has_strided()) continue;
          whole->add(canonical(l));
          if (parts == nullptr) continue;
          if (const auto made = parts_->of.by_parts(canonical(l), v->shape)) parts->add(*made);
        }
      whole->derive();
      if (parts != nullptr) parts->derive();
    };
  });
}

void Redistributor::prices(const Dims& shape, int64_t element_bytes, std::span<const Layout> from,
                           std::span<const Layout> to, std::span<double> out) {
  const auto strided = [](const Layout& l) { return l.has_strided(); };
  if (!has_graphs(mesh_) || out.size() == 1 || std::any_of(from.begin(), from.end(), strided) ||
      std::any_of(to.begin(), to.end(), strided)) {
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t j = 0; j < to.size(); ++j)
        out[i * to.size() + j] = price(shape, element_bytes, from[i], to[j]);
    return;
  }
  Type& t = type(shape, element_bytes);
  LayoutGraph& graph = *t.whole.graph;
  std::vector<uint32_t> rows, columns;
  for (const Layout& l : from) rows.push_back(graph.add(canonical(l)));
  for (const Layout& l : to) columns.push_back(graph.add(canonical(l)));
  graph.distances(rows, columns, threads_, out);
  if (parts_) lower_by_parts(t, shape, from, to, out);
  for (size_t i = 0; i < from.size(); ++i)
    for (size_t j = 0; mixes_reductions(from[i], mesh_) && j < to.size(); ++j)
      if (reduces(from[i], to[j], mesh_)) out[i * to.size() + j] = kUnreachable;
}

// Lowers prices in `out` where the route by parts is cheaper.
void Redistributor::lower_by_parts(Type& type, const Dims& shape, std::span<const Layout> from,
                                   std::span<const Layout> to, std::span<double> out) {
  LayoutGraph& graph = *type.by_parts.graph;
  struct List {
    std::vector<uint32_t> states;
    std::vector<size_t> at;
  } rows, columns;
  const auto add = [&](std::span<const Layout> layouts, List& list) {
    for (size_t i = 0; i < layouts.size(); ++i)
      if (const auto made = parts_->of.by_parts(canonical(layouts[i]), shape)) {
        list.states.push_back(graph.add(*made));
        list.at.push_back(i);
      }
  };
  add(from, rows);
  add(to, columns);
  if (rows.states.empty() || columns.states.empty()) return;
  std::vector<double> us(rows.states.size() * columns.states.size());
  graph.distances(rows.states, columns.states, threads_, us);
  for (size_t i = 0, k = 0; i < rows.at.size(); ++i)
    for (const size_t j : columns.at)
      if (double& whole = out[rows.at[i] * to.size() + j]; is_cheaper(us[k++], whole))
        whole = us[k - 1];
}

}  // namespace shw
