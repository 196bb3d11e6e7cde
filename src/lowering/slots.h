// Which tensor a node stands for: nodes that only name a value – alias, get_item – share the slot
// of what they name.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace shw {

// A result of a node that computes something.
struct Slot {
  NodeId producer;
  uint32_t result = 0;
  uint32_t index = 0;  // into all results of the graph, in node order
};

inline bool only_names(OpKind op) { return op == OpKind::kAlias || op == OpKind::kGetItem; }

// For each node the slot it stands for; of a tuple the first.
std::vector<Slot> slots_of(const Graph& graph);

}  // namespace shw
