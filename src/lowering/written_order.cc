#include "lowering/written_order.h"

#include <algorithm>
#include <utility>

#include "lowering/slots.h"

namespace shw {
namespace {

size_t wrapped(int64_t dim, int rank) { return static_cast<size_t>(dim < 0 ? dim + rank : dim); }

// The order in which a permute or a transpose has the dims of its operand. Empty: it is neither.
Dims order_of(const Graph& graph, NodeId n) {
  const OpKind op = graph.op(n);
  const Attrs& attrs = graph.attrs(n);
  Dims order;
  if (op != OpKind::kPermute && op != OpKind::kTranspose) return order;
  const int rank = graph.type(n).rank();
  if (op == OpKind::kPermute) {
    for (int64_t d : attrs.get_ints(AttrKey::kDims))
      order.push_back(static_cast<int64_t>(wrapped(d, rank)));
    return order;
  }
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[wrapped(attrs.get_int(AttrKey::kDim0, 0), rank)],
            order[wrapped(attrs.get_int(AttrKey::kDim1, 1), rank)]);
  return order;
}

bool is_attention(OpKind op) { return op == OpKind::kSdpa || op == OpKind::kSdpaBackward; }

// The node behind aliases and tuple elements.
NodeId named(const Graph& graph, NodeId n) {
  while (graph.op(n) == OpKind::kAlias || graph.op(n) == OpKind::kGetItem) n = graph.operands(n)[0];
  return n;
}

}  // namespace

bool is_product(OpKind op) { return op == OpKind::kEinsum || op == OpKind::kMm; }

size_t num_ordered_results(OpKind op) { return op == OpKind::kSdpaBackward ? 3 : 1; }

std::vector<Dims> written_orders(const Graph& graph) {
  std::vector<Dims> orders(graph.num_nodes());
  std::vector<uint8_t> returned(graph.num_nodes(), 0), disagree(graph.num_nodes(), 0);
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) returned[out.node.v] = 1;
  const UserTable users(graph);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId reader{i};
    const Dims order = order_of(graph, reader);
    if (order.empty()) continue;
    const NodeId operand = graph.operands(reader)[0];
    if (is_product(graph.op(operand)) && users.users(operand).size() == 1 && !returned[operand.v])
      orders[operand.v] = order;
    const NodeId n = named(graph, operand);
    if (!is_attention(graph.op(n))) continue;
    disagree[n.v] |= !orders[n.v].empty() && orders[n.v] != order;
    orders[n.v] = order;
  }
  for (uint32_t i = 0; i < orders.size(); ++i)
    if (disagree[i]) orders[i] = {};
  return orders;
}

}  // namespace shw
