#include "rewrite/rebuild.h"

#include <algorithm>
#include <utility>

namespace shw {

bool Rebuilder::stays_the_same(NodeId old, std::span<const NodeId> operands) const {
  return !copies_ && old.v == num_same_ && std::ranges::equal(operands, from_.operands(old));
}

void Rebuilder::begin_copies() {
  if (std::exchange(copies_, true)) return;
  to_.reserve(from_.num_nodes() + from_.num_nodes() / 8);
  to_.derive_from(from_);
  for (uint32_t i = 0; i < num_same_; ++i) copy_node(NodeId{i}, from_.operands(NodeId{i}));
}

void Rebuilder::copy_node(NodeId old, std::span<const NodeId> operands) {
  const int32_t input = from_.input_index(old);
  map_[old] = input >= 0
                  ? to_.add_input(from_.name(old), from_.type(old),
                                  from_.inputs()[static_cast<size_t>(input)], from_.meta(old))
                  : to_.add_copy(from_, old, operands);
  to_.set_origin(map_[old], from_.origin(old));
}

NodeId Rebuilder::copy(NodeId old) { return copy(old, mapped(from_.operands(old))); }

NodeId Rebuilder::copy(NodeId old, std::span<const NodeId> operands) {
  if (stays_the_same(old, operands)) {
    ++num_same_;
    return map_[old] = old;
  }
  begin_copies();
  copy_node(old, operands);
  return map_[old];
}

SmallVec<NodeId, 6> Rebuilder::mapped(std::span<const NodeId> old) const {
  SmallVec<NodeId, 6> list;
  list.reserve(old.size());
  for (NodeId n : old) list.push_back(mapped(n));
  return list;
}

NodeId Rebuilder::add_input(NodeId origin, std::string name, const TensorType& type,
                            InputInfo info) {
  begin_copies();
  const NodeId added = to_.add_input(std::move(name), type, std::move(info));
  to_.set_origin(added, from_.origin(origin));
  return added;
}

NodeId Rebuilder::add(NodeId origin, OpKind op, std::string name,
                      std::initializer_list<NodeId> operands, Attrs attrs, const TensorType& result,
                      NodeMeta meta) {
  begin_copies();
  const NodeId added =
      to_.add_node(op, std::move(name), operands, std::move(attrs), result, std::move(meta));
  to_.set_origin(added, from_.origin(origin));
  return added;
}

Graph Rebuilder::finish() {
  if (!copies_ && num_same_ == from_.num_nodes()) return {};
  begin_copies();
  for (OutputInfo out : from_.outputs()) {
    out.node = mapped(out.node);
    to_.add_output(std::move(out));
  }
  to_.set_entries(from_.given_entries());
  return std::move(to_);
}

std::string Namer::fresh(const std::string& base) {
  if (taken_.empty()) {
    taken_.reserve(2 * graph_.num_nodes());
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) taken_.insert(graph_.name(NodeId{i}));
  }
  for (int& next = next_[base];;) {
    std::string name = next == 0 ? base : base + "_" + std::to_string(next);
    ++next;
    if (taken_.contains(name)) continue;
    taken_.insert(given_.emplace_back(name));
    return name;
  }
}

IndexVec<NodeId, uint8_t> live_nodes(const Graph& graph) {
  IndexVec<NodeId, uint8_t> live(graph.num_nodes(), 0);
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) live[out.node] = 1;
  for (uint32_t i = graph.num_nodes(); i-- > 0;) {
    const NodeId n{i};
    if (graph.op(n) == OpKind::kInput) live[n] = 1;
    if (live[n] == 0) continue;
    for (NodeId o : graph.operands(n))
      if (o.valid()) live[o] = 1;
  }
  return live;
}

Graph without_dead_code(Graph graph) {
  const IndexVec<NodeId, uint8_t> live = live_nodes(graph);
  if (std::ranges::find(live, 0) == live.end()) return graph;
  Rebuilder next(graph);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (live[NodeId{i}] != 0) next.copy(NodeId{i});
  return next.finish();
}

UseCounts::UseCounts(const Graph& graph)
    : counts_(graph.num_nodes(), 0), is_output_(graph.num_nodes(), 0) {
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const auto operands = graph.operands(NodeId{i});
    for (auto o = operands.begin(); o != operands.end(); ++o)
      if (o->valid() && std::find(operands.begin(), o, *o) == o) ++counts_[*o];
  }
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid() && std::exchange(is_output_[out.node], 1) == 0) ++counts_[out.node];
}

}  // namespace shw
