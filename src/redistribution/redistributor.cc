#include "redistribution/redistributor.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "redistribution/route_search.h"
#include "sharding/unfolding.h"
#include "support/hash.h"

namespace shw {
namespace {

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
  if (us[at] == kUnreachable) return false;
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
    add_move(route, move, graph.layout(e->to), collective_us, move.copies_us(prices_));
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
          : search_route(mesh_, prices_, collectives_, shape, element_bytes, from, to, route);
  if (!found)
    return unimplemented("no sequence of even blocks leads from " + to_string(from, mesh_.rank()) +
                         " to " + to_string(to, mesh_.rank()));
  return &routes_.emplace(key, std::move(route)).first->second;  // nodes of the map stay in place
}

const std::vector<double>& Redistributor::distances_to(Type& type, uint32_t target) {
  std::vector<double>& us = type.us_to[target];
  if (us.size() < type.graph->num_states()) us = type.graph->distances_to(target);
  return us;
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
  struct Work {  // of one graph: several values may share it
    LayoutGraph* graph;
    std::vector<const ValueLayouts*> values;
  };
  std::vector<Work> works;
  for (const ValueLayouts& v : values) {
    LayoutGraph* const graph = type(v.shape, v.element_bytes).graph.get();
    auto work = std::ranges::find(works, graph, &Work::graph);
    if (work == works.end()) work = works.insert(work, {graph, {}});
    work->values.push_back(&v);
  }
  parallel_for(threads_, works.size(), [&] {
    return [&](size_t i) {
      for (const ValueLayouts* v : works[i].values)
        for (const Layout& l : v->layouts)
          if (!l.has_strided()) works[i].graph->add(canonical(l));
      works[i].graph->derive();
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
  LayoutGraph& graph = *type(shape, element_bytes).graph;
  std::vector<uint32_t> rows, columns;
  for (const Layout& l : from) rows.push_back(graph.add(canonical(l)));
  for (const Layout& l : to) columns.push_back(graph.add(canonical(l)));
  graph.distances(rows, columns, threads_, out);
  for (size_t i = 0; i < from.size(); ++i)
    for (size_t j = 0; mixes_reductions(from[i], mesh_) && j < to.size(); ++j)
      if (reduces(from[i], to[j], mesh_)) out[i * to.size() + j] = kUnreachable;
}

}  // namespace shw
