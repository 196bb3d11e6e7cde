#include "strategy/shard_orders.h"

#include <algorithm>

namespace shw {
namespace {

constexpr size_t kMaxAxesOfAllNodes = 3;

// The node's only operand, otherwise none.
NodeId only_operand(const Graph& graph, NodeId n) {
  NodeId only;
  for (NodeId o : graph.operands(n)) {
    if (!o.valid()) continue;
    if (only.valid()) return kNoNode;
    only = o;
  }
  return only;
}

bool is_parameter(const InputInfo& in) { return is_trained(in.role); }

// Parameters and gradients, values derived from one parameter alone, and values on the way to a
// gradient.
std::vector<bool> chains_of_parameters(const Graph& graph) {
  std::vector<bool> in_chain(graph.num_nodes(), false);
  for (const InputInfo& in : graph.inputs())
    if (is_parameter(in)) in_chain[in.node.v] = true;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (const NodeId o = only_operand(graph, NodeId{i}); o.valid() && in_chain[o.v])
      in_chain[i] = true;
  for (const OutputInfo& out : graph.outputs())
    if (out.role != OutputRole::kResult)
      for (NodeId n = out.node; n.valid() && !in_chain[n.v]; n = only_operand(graph, n))
        in_chain[n.v] = true;
  return in_chain;
}

}  // namespace

ShardOrders::ShardOrders(const Graph& graph, const Mesh& mesh, std::span<const NodeId> ordered)
    : mesh_(mesh) {
  std::vector<uint8_t> axes;
  for (uint8_t m = 0; m < mesh.rank(); ++m)
    if (mesh.size(m) > 1) axes.push_back(m);
  const std::vector<uint8_t> places = axes;
  do {
    Order order = Layout{}.order;
    for (size_t i = 0; i < axes.size(); ++i) order[places[i]] = axes[i];
    orders_.push_back(order);
  } while (std::next_permutation(axes.begin(), axes.end()));
  offered_ = axes.size() <= kMaxAxesOfAllNodes ? std::vector<bool>(graph.num_nodes(), true)
                                               : chains_of_parameters(graph);
  for (const InputInfo& in : graph.inputs())
    if (!is_parameter(in)) offered_[in.node.v] = false;
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid() &&
        (out.of_input < 0 || !is_parameter(graph.inputs()[static_cast<size_t>(out.of_input)])))
      offered_[out.node.v] = false;
  for (NodeId n : ordered) offered_[n.v] = true;
}

bool ShardOrders::cut_twice(const StrategyTable& table, size_t row) const {
  const Order& first = orders_.front();
  for (size_t c = 0; c < table.width(); ++c) {
    Layout l = table.rows[row * table.width() + c];
    l.order = orders_.back();  // reversed
    if (normalised(l).order != first) return true;
  }
  return false;
}

void ShardOrders::add(std::span<const OptionalType> results, std::span<const OptionalType> operands,
                      StrategyTable& table) const {
  const size_t count = table.count(), width = table.width();
  std::vector<Layout> variants;  // of one strategy, row by row
  for (size_t i = 0; i < count; ++i) {
    const auto row = [&](size_t c) { return table.rows[i * width + c]; };
    if (!cut_twice(table, i)) continue;
    variants.clear();
    for (const Order& order : orders_) {
      const size_t end = variants.size();
      bool even = true;
      for (size_t c = 0; c < width; ++c) {
        const OptionalType& t = c < results.size() ? results[c] : operands[c - results.size()];
        Layout l = row(c);
        l.order = order;
        l = normalised(l);
        even = even && (!t || l == row(c) || is_evenly_sharded(t->shape, l, mesh_));
        variants.push_back(t ? l : row(c));
      }
      const auto is_again = [&](size_t first) {
        return std::equal(variants.begin() + static_cast<ptrdiff_t>(first),
                          variants.begin() + static_cast<ptrdiff_t>(first + width),
                          variants.begin() + static_cast<ptrdiff_t>(end));
      };
      bool keep = even;
      for (size_t first = 0; keep && first < end; first += width) keep = !is_again(first);
      if (!keep) variants.resize(end);
    }
    table.rows.insert(table.rows.end(), variants.begin() + static_cast<ptrdiff_t>(width),
                      variants.end());
  }
}

}  // namespace shw
