#include "import/onnx/emitter.h"

#include <algorithm>

#include "graph/reader.h"
#include "rewrite/at_sizes.h"
#include "rewrite/infer_sizes.h"
#include "rewrite/verify.h"

namespace shw::import::onnx {
namespace {

Exprs numbers(const Dims& shape) {
  Exprs sizes;
  for (int64_t d : shape) sizes.push_back({d, {}});
  return sizes;
}

}  // namespace

NodeId Emitter::add(OpKind op, std::vector<NodeId> operands, Args args) {
  if (!status_.ok()) return kNoNode;
  return value_or_fail(try_add(op, std::move(operands), std::move(args)));
}

NodeId Emitter::element(NodeId tuple, int64_t index) {
  return add(OpKind::kGetItem, {tuple}, {{AttrKey::kIndex, index}});
}

Status Emitter::set(AttrKey key, Arg arg, Attrs& attrs,
                    std::vector<std::pair<AttrKey, AttrExprs>>& symbolic) const {
  if (auto* plain = std::get_if<AttrValue>(&arg.value)) {
    attrs.set(key, std::move(*plain));
    return {};
  }
  auto& exprs = std::get<AttrExprs>(arg.value);
  SHW_RETURN_IF_ERROR(set_at(key, exprs, hints_of(graph_.symbols().table), attrs));
  if (shw::has_symbols(exprs.exprs)) symbolic.emplace_back(key, std::move(exprs));
  return {};
}

Result<NodeId> Emitter::try_add(OpKind op, std::vector<NodeId> operands, Args args) {
  if (graph_.num_nodes() >= GraphLimits().max_nodes)
    return Status(Code::kResourceExhausted, "the graph has too many nodes");
  Attrs attrs;
  std::vector<std::pair<AttrKey, AttrExprs>> symbolic;
  for (auto& [key, arg] : args) SHW_RETURN_IF_ERROR(set(key, std::move(arg), attrs, symbolic));
  add_absent_operands(op, attrs, operands);
  SHW_ASSIGN_OR_RETURN(const auto results, infer_results(graph_, op, operands, attrs));
  SHW_ASSIGN_OR_RETURN(auto sizes, infer_sizes(graph_, op, operands, attrs, symbolic, results));
  const NodeId node =
      graph_.add_node(op, name_, operands, std::move(attrs), results, results.size() != 1, meta_);
  for (uint32_t r = 0; r < sizes.size(); ++r)
    if (!sizes[r].empty()) graph_.symbols().shapes.emplace(std::pair(node.v, r), sizes[r]);
  for (auto& [key, value] : symbolic)
    graph_.symbols().attributes.emplace(std::pair(node.v, key), std::move(value));
  return node;
}

NodeId Emitter::input(const TensorType& type, Exprs sizes, InputInfo info) {
  if (!status_.ok()) return kNoNode;
  const NodeId node{graph_.num_nodes()};
  info.node = node;
  std::string name = graph_.full_name(info);
  graph_.add_input(std::move(name), type, std::move(info));
  if (shw::has_symbols(sizes))
    graph_.symbols().shapes.emplace(std::pair(node.v, 0u), std::move(sizes));
  return node;
}

const TensorType& Emitter::type(NodeId node) const {
  static const TensorType kNone;
  if (!status_.ok() || !node.valid() || graph_.is_tuple(node)) return kNone;
  return graph_.type(node);
}

Exprs Emitter::sizes(NodeId node) const {
  const auto& shapes = graph_.symbols().shapes;
  const auto it = node.valid() ? shapes.find({node.v, 0u}) : shapes.end();
  return it == shapes.end() ? numbers(type(node).shape) : it->second;
}

bool Emitter::has_symbols(NodeId node) const { return shw::has_symbols(sizes(node)); }

}  // namespace shw::import::onnx
