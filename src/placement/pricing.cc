#include "placement/pricing.h"

#include "ops/op_def.h"
#include "support/hash.h"

namespace shw {
namespace {

double tensor_bytes(const TensorType& t) { return static_cast<double>(t.bytes()); }

}  // namespace

cost::ValueMeta edge_value(const Graph& graph, NodeId consumer, size_t operand) {
  const NodeId from = graph.operands(consumer)[operand];
  const size_t element =
      graph.op(consumer) == OpKind::kGetItem
          ? static_cast<size_t>(graph.attrs(consumer).get_int(AttrKey::kIndex, 0))
          : 0;
  const TensorType& type = *graph.results(from)[element];
  return {tensor_bytes(type), type.contiguous() || graph.op(from) == OpKind::kEinsum};
}

size_t Pricer::EdgeKeyHash::operator()(const EdgeKey& k) const {
  const uint64_t words[] = {uint64_t{k.from} << 32 | k.to, static_cast<uint64_t>(k.bytes),
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
  const EdgeKey key{from.v, to.v, value.bytes, value.contiguous, no_comm};
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
  return cost::redistribute_us(collectives_, roofline_, value.bytes, value.contiguous, from, to,
                               rules_);
}

}  // namespace shw
