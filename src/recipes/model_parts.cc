#include "recipes/model_parts.h"

#include <algorithm>

namespace shw::recipes {
namespace {

bool is_matrix_product(OpKind op) {
  switch (op) {
    case OpKind::kMm:
    case OpKind::kBmm:
    case OpKind::kAddmm:
    case OpKind::kBaddbmm:
    case OpKind::kEinsum:
    case OpKind::kScaledMm:
    case OpKind::kGroupedMm:
      return true;
    default:
      return false;
  }
}

bool is_attention(OpKind op) {
  return op == OpKind::kSdpa || op == OpKind::kSdpaBackward || op == OpKind::kSdpaPaged;
}

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), users_(graph), seen_(graph.num_nodes(), 0) {}

  ModelParts run() {
    for (std::vector<uint8_t>* list :
         {&out_.is_stream, &out_.is_stream_side, &out_.is_weight, &out_.is_product})
      list->assign(graph_.num_nodes(), 0);
    find_batch();
    find_weights();
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      if (graph_.op(NodeId{i}) == OpKind::kAdd) find_skip(NodeId{i});
    find_stream_sides();
    find_sequence();
    return std::move(out_);
  }

 private:
  const Dims& shape(NodeId n) const { return graph_.type(n).shape; }

  void find_batch() {
    for (const InputInfo& in : graph_.inputs()) {
      if (in.role != InputRole::kInput || shape(in.node).empty()) continue;
      if (out_.batch == 0) out_.batch = shape(in.node)[0];
      if (shape(in.node)[0] == out_.batch) out_.batch_inputs.push_back(in.node);
    }
  }

  void find_weights() {
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      const NodeId n{i};
      const OpKind op = graph_.op(n);
      out_.is_product[i] = is_matrix_product(op) || is_attention(op);
      if (!is_matrix_product(op) && op != OpKind::kEmbedding) continue;
      for (const NodeId operand : graph_.operands(n))
        if (const NodeId w = parameter_behind(graph_, operand); w.valid() && shape(w).size() >= 2)
          out_.is_weight[w.v] = 1;
    }
  }

  bool reads_weight(NodeId n) const {
    return is_matrix_product(graph_.op(n)) &&
           std::ranges::any_of(graph_.operands(n), [&](NodeId operand) {
             const NodeId w = parameter_behind(graph_, operand);
             return w.valid() && out_.is_weight[w.v];
           });
  }

  // Whether the addition closes a skip connection, one operand being computed from the other.
  void find_skip(NodeId add) {
    const auto operands = graph_.operands(add);
    if (operands.size() != 2 || !operands[0].valid() || !operands[1].valid()) return;
    const NodeId from = std::min(operands[0], operands[1]), to = std::max(operands[0], operands[1]);
    if (from == to || graph_.is_tuple(from) || shape(from) != shape(add) || shape(add).size() < 2)
      return;
    const uint32_t weights = weights_between(from, to);
    if (weights == 0) return;
    for (const NodeId end : {from, add}) out_.is_stream[end.v] = !is_inside_sum(end);
    if (graph_.meta(add).phase == Phase::kForward) out_.num_block_weights += weights;
  }

  // Whether it is an inner one of several chained additions: only their final sum is a residual
  // stream.
  bool is_inside_sum(NodeId n) const {
    const auto users = users_.users(n);
    return users.size() == 1 && graph_.op(n) == OpKind::kAdd &&
           graph_.op(users[0]) == OpKind::kAdd && shape(users[0]) == shape(n);
  }

  // The number of matrix products with a weight among the nodes after `from` that `to` is computed
  // from; 0 if `to` is not computed from `from`.
  uint32_t weights_between(NodeId from, NodeId to) {
    ++round_;
    uint32_t products = 0;
    bool reached = false;
    std::vector<NodeId> open{to};
    seen_[to.v] = round_;
    while (!open.empty()) {
      const NodeId n = open.back();
      open.pop_back();
      products += reads_weight(n);
      for (const NodeId operand : graph_.operands(n)) {
        if (!operand.valid() || operand < from) continue;
        reached |= operand == from;
        if (operand == from || seen_[operand.v] == round_) continue;
        seen_[operand.v] = round_;
        open.push_back(operand);
      }
    }
    return reached ? products : 0;
  }

  // Whether a cut of the weights begins or ends at the node.
  bool is_border(NodeId n) const {
    const OpKind op = graph_.op(n);
    return out_.is_product[n.v] || op == OpKind::kInput || op == OpKind::kEmbedding ||
           op == OpKind::kEmbeddingDenseBackward;
  }

  void find_stream_sides() {
    std::vector<uint8_t> behind = out_.is_stream, before = out_.is_stream;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      for (const NodeId operand : graph_.operands(NodeId{i}))
        if (operand.valid() && !is_border(NodeId{i})) behind[i] |= behind[operand.v];
    for (uint32_t i = graph_.num_nodes(); i-- > 0;)
      for (const NodeId operand : graph_.operands(NodeId{i}))
        if (operand.valid() && !is_border(NodeId{i}) && !is_border(operand))
          before[operand.v] |= before[i];
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      out_.is_stream_side[i] = !is_border(NodeId{i}) && (behind[i] || before[i]);
  }

  void find_sequence() {
    for (uint32_t i = 0; i < graph_.num_nodes() && out_.sequence == 0; ++i)
      if (out_.is_stream[i] && shape(NodeId{i}).size() == 3 && shape(NodeId{i})[0] == out_.batch)
        out_.sequence = shape(NodeId{i})[1];
    if (out_.sequence == 0) return;
    for (const NodeId in : out_.batch_inputs)
      if (shape(in).size() >= 2 && shape(in)[1] == out_.sequence)
        out_.sequence_inputs.push_back(in);
  }

  const Graph& graph_;
  UserTable users_;
  std::vector<uint32_t> seen_;  // the round in which a node was found
  uint32_t round_ = 0;
  ModelParts out_;
};

}  // namespace

NodeId parameter_behind(const Graph& graph, NodeId operand) {
  while (operand.valid()) {
    const auto operands = graph.operands(operand);
    if (operands.size() != 1 || graph.is_tuple(operand)) break;
    operand = operands[0];
  }
  if (!operand.valid() || graph.op(operand) != OpKind::kInput) return kNoNode;
  const InputInfo& in = graph.inputs()[static_cast<size_t>(graph.input_index(operand))];
  return in.role == InputRole::kParameter ? operand : kNoNode;
}

ModelParts ModelParts::of(const Graph& graph) { return Finder(graph).run(); }

}  // namespace shw::recipes
