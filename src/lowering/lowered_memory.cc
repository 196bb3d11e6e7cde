#include "lowering/lowered_memory.h"

#include <utility>

#include "lowering/slots.h"
#include "lowering/window.h"
#include "lowering/written_order.h"
#include "ops/op_def.h"

namespace shw {
namespace {

// The type of a tensor whose dims are written in that order.
TensorType written(const TensorType& type, const Dims& order) {
  Dims lies;
  for (int64_t d : order) lies.push_back(type.shape[static_cast<size_t>(d)]);
  const Dims strides = row_major_strides(lies);
  TensorType seen{type.shape, type.shape, type.dtype};
  for (size_t i = 0; i < order.size(); ++i)
    seen.strides[static_cast<size_t>(order[i])] = strides[i];
  return seen;
}

// As in lowering: if the operand's strides allow no window, the view is a window into a copy of it.
TensorType viewed(const Graph& graph, NodeId n, uint32_t result, const TensorType& operand,
                  NodeCopies& copies) {
  const TensorType& type = *graph.results(n)[result];
  const auto window = [&](const TensorType& lies) {
    return view_window(graph.op(n), graph.attrs(n), graph.type(graph.operands(n)[0]), {lies, {}, 0},
                       type.shape, result);
  };
  if (const auto found = window(operand)) return found->type;
  copies.to_look_at = 1;
  const auto found = window(row_major(operand.dtype, operand.shape));
  return found ? found->type : row_major(type.dtype, type.shape);
}

// Each output has its own storage and is row-major.
void count_copies_for_outputs(const Graph& graph, LoweredMemory& use) {
  const std::vector<Slot> slots = slots_of(graph, Copies::kShared);
  std::vector<uint8_t> returned(graph.num_results(), 0);  // by slot
  for (const OutputInfo& out : graph.outputs()) {
    if (!out.node.valid() || out.in_place) continue;
    const MemoryOrder& order = use.orders[graph.node(out.node).first_result];
    const bool again = std::exchange(returned[slots[out.node.v].index], 1) != 0;
    if (order.is_row_major() && !again) continue;
    NodeCopies& copies = use.copies[out.node.v];
    ++copies.for_outputs;
    if (order.dense && !again) copies.order = order.dim_at;
  }
}

}  // namespace

LoweredMemory lowered_memory(const Graph& graph) {
  LoweredMemory use;
  use.written = written_orders(graph);
  use.copies.resize(graph.num_nodes());
  std::vector<TensorType> lies;  // by result
  lies.reserve(graph.num_results());
  use.orders.reserve(graph.num_results());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const OpKind op = graph.op(n);
    const auto results = graph.results(n);
    for (uint32_t r = 0; r < results.size(); ++r) {
      TensorType type;
      if (results[r]) type = row_major(results[r]->dtype, results[r]->shape);
      const auto operand = [&] { return graph.node(graph.operands(n)[0]).first_result; };
      if (results[r] && op == OpKind::kGetItem)
        type = lies[operand() + static_cast<size_t>(graph.attrs(n).get_int(AttrKey::kIndex, 0))];
      else if (results[r] && op_def(op).is_view && op != OpKind::kInput)
        type = viewed(graph, n, r, lies[operand()], use.copies[i]);
      else if (results[r] && !use.written[i].empty() && r < num_ordered_results(op))
        type = written(type, use.written[i]);
      use.orders.push_back(MemoryOrder::of(type));
      lies.push_back(std::move(type));
    }
  }
  count_copies_for_outputs(graph, use);
  return use;
}

}  // namespace shw
