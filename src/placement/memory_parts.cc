// The breakdown of the bytes at one point of a step.
#include <algorithm>
#include <cmath>

#include "ops/op_def.h"
#include "placement/memory.h"

namespace shw {
namespace {

// Classifies a node's storage by the graph; the uses say how large it is and when it is live.
class Kinds {
 public:
  explicit Kinds(const Graph& graph)
      : graph_(graph), saved_(graph.num_nodes(), 0), output_(graph.num_nodes(), -1) {
    for (uint32_t i = graph.num_nodes(); i-- > 0;) find_saved(NodeId{i});
    for (size_t o = 0; o < graph.outputs().size(); ++o) find_returned(o);
  }

  struct Kind {
    MemoryKind kind;
    NodeId of;
  };
  Kind of_input(NodeId n) const {
    const InputInfo& in = graph_.inputs()[static_cast<size_t>(graph_.input_index(n))];
    return {in.role == InputRole::kParameter ? MemoryKind::kParameter : MemoryKind::kInput, n};
  }
  Kind of_returned(NodeId n) const {
    if (output_[n.v] < 0) return {MemoryKind::kResult, maker(n)};
    const OutputInfo& out = graph_.outputs()[static_cast<size_t>(output_[n.v])];
    if (out.of_input < 0) return {MemoryKind::kResult, maker(n)};
    const NodeId input = graph_.inputs()[static_cast<size_t>(out.of_input)].node;
    return {out.role == OutputRole::kGradient ? MemoryKind::kGradient : MemoryKind::kResult, input};
  }
  Kind of_other(NodeId n) const {
    return {saved_[n.v] ? MemoryKind::kActivation : MemoryKind::kTemporary, maker(n)};
  }

 private:
  NodeId maker(NodeId n) const {
    while (is_view(n)) n = graph_.operands(n)[0];
    return n;
  }
  bool is_view(NodeId n) const {
    return graph_.op(n) != OpKind::kInput && op_def(graph_.op(n)).is_view;
  }

  // Marks what the backward pass reads, directly or through views.
  void find_saved(NodeId reader) {
    const bool backward = graph_.meta(reader).phase == Phase::kBackward;
    for (NodeId operand : graph_.operands(reader)) {
      if (!operand.valid() || graph_.meta(operand).phase == Phase::kBackward) continue;
      if (backward || (is_view(reader) && saved_[reader.v])) saved_[operand.v] = 1;
    }
  }

  // Marks the node of an output, and the nodes that it is a view of. If several outputs share a
  // node, it belongs to the first.
  void find_returned(size_t output) {
    NodeId n = graph_.outputs()[output].node;
    while (n.valid() && output_[n.v] < 0) {
      output_[n.v] = static_cast<int32_t>(output);
      n = is_view(n) ? graph_.operands(n)[0] : kNoNode;
    }
  }

  const Graph& graph_;
  std::vector<uint8_t> saved_;   // by node
  std::vector<int32_t> output_;  // by node; -1: none
};

}  // namespace

std::string_view to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kParameter:
      return "parameters";
    case MemoryKind::kOptimizer:
      return "optimizer_state";
    case MemoryKind::kGradient:
      return "gradients";
    case MemoryKind::kInput:
      return "inputs";
    case MemoryKind::kResult:
      return "results";
    case MemoryKind::kActivation:
      return "activations";
    case MemoryKind::kTemporary:
      return "temporaries";
  }
  return "";
}

std::vector<MemoryPart> MemoryModel::parts(const Graph& graph, std::span<const uint32_t> choice,
                                           NodeId at) const {
  const Kinds kinds(graph);
  std::vector<MemoryPart> parts;
  const auto add = [&](MemoryKind kind, NodeId of, double held) {
    if (held > 0) parts.push_back({kind, of, held});
  };
  for (const Use& use : uses_) {
    if (at.v < use.first || at.v >= use.end) continue;
    const double held = bytes(use)[choice[use.node.v]];
    const bool is_input = graph.op(use.node) == OpKind::kInput;
    const Kinds::Kind what = use.returned ? kinds.of_returned(use.node)
                             : is_input   ? kinds.of_input(use.node)
                                          : kinds.of_other(use.node);
    const bool has_state = what.kind == MemoryKind::kParameter;
    const double itself = has_state ? std::round(held / (1 + optimizer_factor_)) : held;
    add(what.kind, what.of, itself);
    if (has_state) add(MemoryKind::kOptimizer, what.of, held - itself);
  }
  for (const Copy& c : copies_) {
    if (at.v < c.first || at.v >= c.end || !is_copied(c, choice)) continue;
    const Kinds::Kind what = kinds.of_other(c.charged_to_reader ? c.reader : c.of);
    add(what.kind, what.of, copied_bytes(c, choice));
  }
  return parts;
}

}  // namespace shw
