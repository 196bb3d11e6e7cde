// Which tensor a node stands for: nodes that only name a value – get_item, and alias unless it is
// to hold a copy of its own – share the slot of what they name.
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

// How long a value that was brought into another layout is held.
enum class Copies : uint8_t {
  // Until its last use, whichever nodes use it: the least communication.
  kShared = 0,
  // As the plan has it: what asks for another layout is a view or an alias, and is held as long as
  // that is read, or an op, which has its copy for itself.
  kAsPlanned = 1
};

inline bool only_names(OpKind op, Copies copies) {
  return op == OpKind::kGetItem || (op == OpKind::kAlias && copies == Copies::kShared);
}

// For each node the slot it stands for; of a tuple the first.
std::vector<Slot> slots_of(const Graph& graph, Copies copies);

}  // namespace shw
