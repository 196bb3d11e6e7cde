#include "placement/pricing.h"

#include <algorithm>

#include "ops/op_def.h"
#include "support/hash.h"

namespace shw {
namespace {

double tensor_bytes(const TensorType& t) { return static_cast<double>(t.bytes()); }

const TensorType& edge_type(const Graph& graph, NodeId consumer, size_t operand) {
  const NodeId from = graph.operands(consumer)[operand];
  const size_t element =
      graph.op(consumer) == OpKind::kGetItem
          ? static_cast<size_t>(graph.attrs(consumer).get_int(AttrKey::kIndex, 0))
          : 0;
  return *graph.results(from)[element];
}

// Whether mesh dims can change one after another, as cost/ prices them, and end in `to`: a mesh dim
// that cuts a tensor dim can leave it only if it cuts it last, and one that comes cuts it last.
bool changes_in_turn(const Layout& from, const Layout& to, const Mesh& mesh) {
  Layout at = from;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (at[m] == to[m]) continue;
    if (at[m].is_shard() && at.shards_of(at[m].dim()).back() != m) return false;
    at[m] = to[m];
    const auto last = std::remove(at.order.begin(), at.order.end(), static_cast<uint8_t>(m));
    *last = static_cast<uint8_t>(m);
    at = normalised(at);
  }
  return at == to;
}

// Whether several mesh dims make the same change, for which one collective may serve.
bool several_alike(const Layout& from, const Layout& to, const Mesh& mesh) {
  for (int m = 1; m < mesh.rank(); ++m)
    for (int e = 0; e < m; ++e)
      if (from[m] != to[m] && !from[m].is_replicate() && from[m] == from[e] && to[m] == to[e])
        return true;
  return false;
}

// Whether two mesh dims cut one tensor dim, before, after, or one before and the other after.
bool meet(const Layout& from, const Layout& to, const Mesh& mesh) {
  const auto share = [](Placement a, Placement b) {
    return a.is_shard_like() && b.is_shard_like(a.dim());
  };
  for (int m = 1; m < mesh.rank(); ++m)
    for (int e = 0; e < m; ++e)
      if (share(from[m], from[e]) || share(to[m], to[e]) || share(from[m], to[e]) ||
          share(to[m], from[e]))
        return true;
  return false;
}

}  // namespace

cost::ValueMeta edge_value(const Graph& graph, NodeId consumer, size_t operand) {
  const NodeId from = graph.operands(consumer)[operand];
  const TensorType& type = edge_type(graph, consumer, operand);
  return {tensor_bytes(type), type.contiguous() || graph.op(from) == OpKind::kEinsum};
}

size_t Pricer::EdgeKeyHash::operator()(const EdgeKey& k) const {
  const uint64_t words[] = {uint64_t{k.from} << 32 | k.to, static_cast<uint64_t>(k.bytes), k.shape,
                            uint64_t{k.contiguous} << 1 | uint64_t{k.no_comm}};
  return hash_bytes(words, sizeof words);
}

// An equal share of the FLOPs that the node states, and the bytes of its pieces.
Result<double> Pricer::opaque_cost(NodeId n, uint32_t strategy) const {
  const Mesh& mesh = collectives_.mesh();
  const std::vector<OptionalType> operands = operand_types(graph_, n);
  const auto results = graph_.results(n);
  const OpArgs args{operands, &graph_.attrs(n)};
  const double flops = op_def(graph_.op(n)).flops(args, results);
  if (flops == 0 || rules_ == cost::PriceRules::kCompat) return 0.0;
  double bytes = 0;
  std::optional<Dtype> arithmetic;  // of the first tensor that is not of integers
  const auto add = [&](const OptionalType& t, const Layout& layout) {
    bytes += tensor_bytes(row_major(t->dtype, local_shape(t->shape, layout, mesh)));
    if (!arithmetic && is_floating(t->dtype)) arithmetic = t->dtype;
  };
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k]) add(operands[k], strategies_.operand_layout(n, k, strategy));
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r]) add(results[r], strategies_.result_layout(n, r, strategy));
  return roofline_.compute_us(flops / static_cast<double>(mesh.num_ranks()), bytes,
                              arithmetic.value_or(Dtype::kF32));
}

Result<double> Pricer::strategy_cost(NodeId n, uint32_t strategy) const {
  const OpDef& def = op_def(graph_.op(n));
  if (def.opaque) return opaque_cost(n, strategy);
  const Mesh& mesh = collectives_.mesh();
  std::vector<OptionalType> operands = operand_types(graph_, n);
  double bytes = 0;
  const TensorType* first = nullptr;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k]) continue;
    const Layout& layout = strategies_.operand_layout(n, k, strategy);
    operands[k] = row_major(operands[k]->dtype, local_shape(operands[k]->shape, layout, mesh));
    bytes += tensor_bytes(*operands[k]);
    if (first == nullptr) first = &*operands[k];
  }
  const OpArgs args{operands, &graph_.attrs(n)};
  SHW_ASSIGN_OR_RETURN(const std::vector<OptionalType> results, def.infer(args));
  const double flops = def.flops ? def.flops(args, results) : 0;
  for (const OptionalType& t : results)
    if (t) bytes += tensor_bytes(*t);
  return roofline_.compute_us(flops, bytes, first ? first->dtype : Dtype::kF32);
}

Result<std::span<const double>> Pricer::node_costs(NodeId n) {
  const auto [it, is_new] = node_costs_.try_emplace(strategies_.set_of(n).v);
  std::vector<double>& costs = it->second;
  if (is_new) {
    costs.assign(strategies_.of(n).count, 0.0);
    const OpDef& def = op_def(graph_.op(n));
    for (uint32_t s = 0; s < costs.size() && !def.free; ++s) {
      auto cost = strategy_cost(n, s);
      if (!cost.ok()) return Status(cost.status()).at_node(n.v, graph_.name(n));
      costs[s] = *cost;
    }
  }
  return std::span<const double>(costs);
}

uint32_t Pricer::edge_matrix(NodeId consumer, size_t operand, bool no_comm,
                             solver::PlacementProblem& problem) {
  const LayoutListId from = strategies_.produced(graph_, consumer, operand);
  const LayoutListId to = strategies_.of(consumer).operands[operand];
  const cost::ValueMeta value = edge_value(graph_, consumer, operand);
  const TensorType& type = edge_type(graph_, consumer, operand);
  const EdgeKey key{from.v,           to.v,
                    value.bytes,      route_ ? hash_span(type.shape.span()) : 0,
                    value.contiguous, no_comm};
  if (const auto it = matrices_.find(key); it != matrices_.end()) return it->second;

  const auto layouts = [&](LayoutListId list) {
    std::vector<Layout> v;
    for (LayoutId id : strategies_.pool().list(list)) v.push_back(strategies_.pool().layout(id));
    return v;
  };
  const std::vector<Layout> rows = layouts(from), columns = layouts(to);
  const std::span<double> us = problem.room_for_matrix(static_cast<uint32_t>(rows.size()),
                                                       static_cast<uint32_t>(columns.size()));
  cost::redistribute_matrix(collectives_, roofline_, value.bytes, value.contiguous, rows, columns,
                            us, rules_, /*transition=*/no_comm ? 0.0 : 1.0);
  if (route_)
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j) {
        double& c = us[i * columns.size() + j];
        if (c < cost::kInfinite && wants_route(rows[i], columns[j]))
          c = route_us(type, value.contiguous, rows[i], columns[j]) +
              (no_comm ? 0.0 : cost::transition_us(rows[i], columns[j]));
      }
  if (no_comm)
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j) {
        double& c = us[i * columns.size() + j];
        c = c > 0 ? solver::kForbidden : cost::transition_us(rows[i], columns[j]);
      }
  const uint32_t matrix = problem.add_filled_matrix();
  matrices_.emplace(key, matrix);
  return matrix;
}

double Pricer::redistribution_us(NodeId consumer, size_t operand, const Layout& from,
                                 const Layout& to) const {
  const cost::ValueMeta value = edge_value(graph_, consumer, operand);
  const double us = cost::redistribute_us(collectives_, roofline_, value.bytes, value.contiguous,
                                          from, to, rules_);
  if (route_ && us < cost::kInfinite && wants_route(from, to))
    return route_us(edge_type(graph_, consumer, operand), value.contiguous, from, to);
  return us;
}

bool Pricer::wants_route(const Layout& from, const Layout& to) const {
  const Mesh& mesh = collectives_.mesh();
  if (from == to || from.all_replicate()) return false;
  if (several_alike(from, to, mesh)) return true;
  return meet(from, to, mesh) && !changes_in_turn(from, to, mesh);
}

double Pricer::route_us(const TensorType& type, bool contiguous, const Layout& from,
                        const Layout& to) const {
  const double us = route_(type.shape, dtype_size(type.dtype), from, to);
  if (us == 0 || contiguous) return us;
  double pieces = 1;
  for (int m = 0; m < collectives_.mesh().rank(); ++m)
    if (from[m].is_shard_like()) pieces *= static_cast<double>(collectives_.mesh().size(m));
  return us + roofline_.rw_us(2 * tensor_bytes(type) / pieces);
}

}  // namespace shw
