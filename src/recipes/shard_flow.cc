#include "recipes/shard_flow.h"

#include <limits>

namespace shw::recipes {
namespace {

// A reduction or a slice is cheap compared to a gather, but not free, so that strategies that need
// neither win.
constexpr double kSmallMove = 1e-3;

double bytes_of(const Graph& graph, NodeId n, size_t result) {
  const auto& type = graph.results(n)[result];
  if (!type) return 0;
  double bytes = static_cast<double>(dtype_size(type->dtype));
  for (const int64_t size : type->shape) bytes *= static_cast<double>(size);
  return bytes;
}

}  // namespace

size_t element_of_operand(const Graph& graph, NodeId n) {
  return graph.op(n) == OpKind::kGetItem
             ? static_cast<size_t>(graph.attrs(n).get_int(AttrKey::kIndex, 0))
             : 0;
}

Result<ShardFlow> ShardFlow::create(const Graph& graph, int64_t num_ranks, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create({{"ranks", num_ranks}}));
  SHW_ASSIGN_OR_RETURN(
      Strategies strategies,
      Strategies::enumerate(graph, mesh, {.reachable_only = true, .strided = true}, monitor));
  return ShardFlow(graph, std::make_shared<const Strategies>(std::move(strategies)));
}

ShardFlow::ShardFlow(const Graph& graph, std::shared_ptr<const Strategies> strategies)
    : graph_(&graph), strategies_(std::move(strategies)) {
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    first_.push_back(static_cast<uint32_t>(placed_.size()));
    placed_.resize(placed_.size() + graph.node(NodeId{i}).num_results);
  }
}

const Placement& ShardFlow::operand(NodeId n, size_t k) const {
  return result(graph_->operands(n)[k], element_of_operand(*graph_, n));
}

void ShardFlow::run(const Starts& starts) {
  placed_.assign(placed_.size(), Placement::replicate());
  pass(starts);  // twice, since tangents are inputs and precede the outputs that they belong to
  pass(starts);
}

void ShardFlow::pass(const Starts& starts) {
  for (uint32_t i = 0; i < graph_->num_nodes(); ++i) {
    const NodeId n{i};
    const std::optional<Placement> start = start_of(n, starts);
    if (!start || graph_->op(n) != OpKind::kInput) choose(n);
    if (start) placed_[first_[i]] = *start;
  }
}

std::optional<Placement> ShardFlow::start_of(NodeId n, const Starts& starts) const {
  if (const auto at = starts.find(n); at != starts.end()) return at->second;
  if (graph_->op(n) != OpKind::kInput) return std::nullopt;
  const InputInfo& in = graph_->inputs()[static_cast<size_t>(graph_->input_index(n))];
  if (in.role == InputRole::kTangent && in.position >= 0) {
    const NodeId out = graph_->outputs()[static_cast<size_t>(in.position)].node;
    if (out.valid() && result(out).is_shard()) return result(out);
  }
  return Placement::replicate();
}

void ShardFlow::choose(NodeId n) {
  const StrategySet& set = strategies_->of(n);
  for (size_t r = 0; r < set.results.size(); ++r) placed_[first_[n.v] + r] = Placement::replicate();
  if (arrives_replicated(n)) return;
  uint32_t best = 0;
  double fewest = std::numeric_limits<double>::infinity();
  for (uint32_t s = 0; s < set.count; ++s)
    if (const double bytes = moved_bytes(n, s); bytes < fewest) fewest = bytes, best = s;
  for (size_t r = 0; r < set.results.size(); ++r)
    if (set.results[r].valid())
      placed_[first_[n.v] + r] = strategies_->result_layout(n, r, best)[0];
}

bool ShardFlow::arrives_replicated(NodeId n) const {
  const auto operands = graph_->operands(n);
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k].valid() && !operand(n, k).is_replicate()) return false;
  return true;
}

double ShardFlow::moved_bytes(NodeId n, uint32_t strategy) const {
  const auto operands = graph_->operands(n);
  double moved = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].valid()) continue;
    const Placement &is = operand(n, k), &wanted = strategies_->operand_layout(n, k, strategy)[0];
    if (is == wanted) continue;
    if (wanted.is_partial()) return std::numeric_limits<double>::infinity();
    const double bytes = bytes_of(*graph_, operands[k], element_of_operand(*graph_, n));
    moved += is.is_shard_like() ? bytes : kSmallMove * (bytes + 1);
  }
  return moved;
}

}  // namespace shw::recipes
