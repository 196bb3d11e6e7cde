#include "lowering/slots.h"

namespace shw {

std::vector<Slot> slots_of(const Graph& graph, Copies copies) {
  std::vector<Slot> slots(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    slots[i] = {n, 0, graph.node(n).first_result};
    if (!only_names(graph.op(n), copies)) continue;
    slots[i] = slots[graph.operands(n)[0].v];
    if (graph.op(n) == OpKind::kGetItem) {
      const auto element = static_cast<uint32_t>(graph.attrs(n).get_int(AttrKey::kIndex, 0));
      slots[i].result += element;
      slots[i].index += element;
    }
  }
  return slots;
}

}  // namespace shw
