// Slots: one per tensor that the graph computes. Nodes that only name a value share its slot:
// get_item, and alias unless it holds its own copy.
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

// How long a copy of a value in another layout is held.
enum class Copies : uint8_t {
  // Until its last use by any node. This gives the least communication.
  kShared = 0,
  // As planned. A copy for a view or an alias is held as long as that node is read. A copy for any
  // other op is used by this op alone.
  kAsPlanned = 1
};

inline bool only_names(OpKind op, Copies copies) {
  return op == OpKind::kGetItem || (op == OpKind::kAlias && copies == Copies::kShared);
}

// The slot of each node; for a tuple, that of its first result.
std::vector<Slot> slots_of(const Graph& graph, Copies copies);

}  // namespace shw
