#include "bench/deeper_model.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace shw::bench {
namespace {

struct Block {
  uint32_t first = UINT32_MAX, end = 0;
  bool has(NodeId n) const { return n.v >= first && n.v < end; }
  uint32_t size() const { return end - first; }
};

// The positions of a layer's inputs, forward nodes and backward nodes.
struct Layer {
  Block inputs, forward, backward;
};

class Deeper {
 public:
  Deeper(const Graph& graph, uint32_t layers, const std::map<int64_t, int64_t>& sizes)
      : old_(graph), layers_(layers), sizes_(sizes), same_(graph.num_nodes()) {}

  Result<Graph> run() {
    SHW_RETURN_IF_ERROR(find());
    inputs_.resize(layers_), forward_.resize(layers_), backward_.resize(layers_);
    for (uint32_t i = 0; i < old_.num_nodes(); ++i) {
      const NodeId n{i};
      if (i == at_[0].inputs.first) add_layer_inputs();
      if (i == at_[0].forward.first)
        for (uint32_t k = 0; k < layers_; ++k) SHW_RETURN_IF_ERROR(add_forward(k));
      if (i == at_[1].backward.first)
        for (uint32_t k = layers_; k-- > 0;) SHW_RETURN_IF_ERROR(add_backward(k));
      if (in_a_layer(n)) continue;
      if (const int32_t input = old_.input_index(n); input >= 0)
        same_[i] =
            add_input(static_cast<size_t>(input), old_.inputs()[static_cast<size_t>(input)].name);
      else
        SHW_RETURN_IF_ERROR(add(n, same_[i], [&](NodeId o, size_t) { return outside(o); }));
    }
    add_outputs();
    return std::move(new_);
  }

 private:
  static int layer_in(const std::string& path) {
    for (int l = 0; l < 2; ++l)
      if (path.find("layers." + std::to_string(l) + ".") != std::string::npos) return l;
    return -1;
  }
  static void widen(Block& block, uint32_t i) {
    block.first = std::min(block.first, i);
    block.end = std::max(block.end, i + 1);
  }

  Status find() {
    for (uint32_t i = 0; i < old_.num_nodes(); ++i) {
      const NodeId n{i};
      const int32_t input = old_.input_index(n);
      const int l = layer_in(input >= 0 ? old_.inputs()[static_cast<size_t>(input)].name
                                        : old_.meta(n).module_path);
      if (l < 0) continue;
      Layer& layer = at_[l];
      widen(input >= 0                              ? layer.inputs
            : old_.meta(n).phase == Phase::kForward ? layer.forward
                                                    : layer.backward,
            i);
    }
    for (const auto& [a, b] :
         {std::pair(at_[0].inputs, at_[1].inputs), std::pair(at_[0].forward, at_[1].forward),
          std::pair(at_[0].backward, at_[1].backward)}) {
      if (a.end == 0 || a.size() != b.size())
        return invalid_argument("there are no two layers of one shape in the graph");
      for (uint32_t j = 0; j < a.size(); ++j)
        if (old_.op(NodeId{a.first + j}) != old_.op(NodeId{b.first + j}))
          return invalid_argument("the layers differ at node " + std::to_string(b.first + j));
    }
    return {};
  }
  bool in_a_layer(NodeId n) const {
    for (const Layer& l : at_)
      if (l.inputs.has(n) || l.forward.has(n) || l.backward.has(n)) return true;
    return false;
  }

  int64_t scaled(int64_t size) const {
    const auto it = sizes_.find(size);
    return it == sizes_.end() ? size : it->second;
  }

  NodeId add_input(size_t input, std::string name) {
    const InputInfo& info = old_.inputs()[input];
    Dims shape;
    for (int64_t d : old_.type(info.node).shape) shape.push_back(scaled(d));
    InputInfo copy = info;
    copy.name = std::move(name);
    return new_.add_input("", row_major(old_.type(info.node).dtype, shape), std::move(copy),
                          old_.meta(info.node));
  }
  // The name "layers.0.x" for layer k.
  static std::string renamed(std::string text, uint32_t k) {
    for (const char* of : {"layers.0.", "layers.1."})
      if (const size_t at = text.find(of); at != std::string::npos)
        return text.replace(at, 9, "layers." + std::to_string(k) + ".");
    return text;
  }
  void add_layer_inputs() {
    for (uint32_t k = 0; k < layers_; ++k)
      for (uint32_t i = at_[0].inputs.first; i < at_[0].inputs.end; ++i) {
        const auto input = static_cast<size_t>(old_.input_index(NodeId{i}));
        inputs_[k].push_back(add_input(input, renamed(old_.inputs()[input].name, k)));
      }
  }

  // The new node for an operand of a node outside the layers: it is in the last forward layer or in
  // the first backward layer.
  NodeId outside(NodeId o) const {
    if (at_[1].forward.has(o)) return forward_[layers_ - 1][o.v - at_[1].forward.first];
    if (at_[0].backward.has(o)) return backward_[0][o.v - at_[0].backward.first];
    return same_[o.v];
  }
  // The new node for an operand of a node of template layer t that becomes layer k, if the operand
  // is in a layer.
  std::optional<NodeId> inside(NodeId o, uint32_t t, uint32_t k) const {
    const Layer &own = at_[t], &other = at_[1 - t];
    if (own.inputs.has(o)) return inputs_[k][o.v - own.inputs.first];
    if (own.forward.has(o)) return forward_[k][o.v - own.forward.first];
    if (own.backward.has(o)) return backward_[k][o.v - own.backward.first];
    const uint32_t beside = t == 1 ? k - 1 : k + 1;
    if (other.forward.has(o)) return forward_[beside][o.v - other.forward.first];
    if (other.backward.has(o)) return backward_[beside][o.v - other.backward.first];
    return std::nullopt;
  }

  Status add_forward(uint32_t k) {
    const uint32_t t = k == 0 ? 0 : 1;
    for (uint32_t i = at_[t].forward.first; i < at_[t].forward.end; ++i) {
      NodeId made;
      SHW_RETURN_IF_ERROR(add(
          NodeId{i}, made, [&](NodeId o, size_t) { return inside(o, t, k).value_or(same_[o.v]); },
          k));
      forward_[k].push_back(made);
    }
    return {};
  }
  // A layer between the first and the last takes its gradient as the first layer does, and its
  // saved values as the last layer does.
  Status add_backward(uint32_t k) {
    const uint32_t t = k == 0 ? 0 : 1;
    for (uint32_t j = 0; j < at_[t].backward.size(); ++j) {
      const auto operand = [&](NodeId o, size_t slot) {
        if (const auto in = inside(o, t, k)) return *in;
        const NodeId as_first = old_.operands(NodeId{at_[0].backward.first + j})[slot];
        if (k + 1 < layers_ && at_[1].backward.has(as_first))
          return backward_[k + 1][as_first.v - at_[1].backward.first];
        return same_[o.v];
      };
      NodeId made;
      SHW_RETURN_IF_ERROR(add(NodeId{at_[t].backward.first + j}, made, operand, k));
      backward_[k].push_back(made);
    }
    return {};
  }

  template <class Operand>
  Status add(NodeId n, NodeId& made, Operand operand, uint32_t k = 0) {
    std::vector<NodeId> operands;
    std::vector<OptionalType> types;
    for (size_t slot = 0; slot < old_.operands(n).size(); ++slot) {
      const NodeId o = old_.operands(n)[slot];
      operands.push_back(o.valid() ? operand(o, slot) : kNoNode);
      types.push_back(o.valid() ? type_of(operands.back(), n) : std::nullopt);
    }
    Attrs attrs = old_.attrs(n);
    if (attrs.has(AttrKey::kSize)) {
      std::vector<int64_t> size = attrs.get_ints(AttrKey::kSize);
      for (int64_t& d : size) d = scaled(d);
      attrs.set(AttrKey::kSize, std::move(size));
    }
    auto results = op_def(old_.op(n)).infer({types, &attrs});
    if (!results.ok()) return Status(results.status()).at_node(n.v, old_.name(n));
    NodeMeta meta = old_.meta(n);
    meta.module_path = renamed(meta.module_path, k);
    made = new_.add_node(old_.op(n), "", operands, std::move(attrs), *results, old_.is_tuple(n),
                         std::move(meta));
    return {};
  }
  OptionalType type_of(NodeId o, NodeId user) const {
    const size_t element = old_.op(user) == OpKind::kGetItem
                               ? static_cast<size_t>(old_.attrs(user).get_int(AttrKey::kIndex, 0))
                               : 0;
    return new_.results(o)[element];
  }

  void add_outputs() {
    for (const OutputInfo& out : old_.outputs()) {
      const NodeId of =
          out.of_input < 0 ? kNoNode : old_.inputs()[static_cast<size_t>(out.of_input)].node;
      if (of.valid() && at_[1].inputs.has(of)) continue;
      OutputInfo copy = out;
      if (!of.valid() || !at_[0].inputs.has(of)) {
        if (of.valid()) copy.of_input = new_.input_index(same_[of.v]);
        if (out.node.valid()) copy.node = outside(out.node);
        new_.add_output(copy);
        continue;
      }
      for (uint32_t k = 0; k < layers_; ++k) {
        copy.of_input = new_.input_index(inputs_[k][of.v - at_[0].inputs.first]);
        copy.node = backward_[k][out.node.v - at_[0].backward.first];
        new_.add_output(copy);
      }
    }
  }

  const Graph& old_;
  const uint32_t layers_;
  const std::map<int64_t, int64_t>& sizes_;
  Layer at_[2];
  Graph new_;
  std::vector<NodeId> same_;  // by old node, for nodes outside the layers
  std::vector<std::vector<NodeId>> inputs_, forward_, backward_;  // by layer
};

}  // namespace

Result<Graph> deeper_model(const Graph& graph, uint32_t layers,
                           const std::map<int64_t, int64_t>& sizes) {
  if (layers < 2) return invalid_argument("two layers at least");
  return Deeper(graph, layers, sizes).run();
}

}  // namespace shw::bench
