// Where a program makes a version of a value for several of its uses, or a use reads another one
// than the plan has: what the plan's prices do not know (strategy/shared_versions.h).
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "lowering/slots.h"
#include "lowering/versions.h"
#include "redistribution/redistributor.h"
#include "strategy/assignment.h"
#include "strategy/shared_versions.h"

namespace shw {

// Which version an operand was read from.
struct VersionRead {
  GraphEdge edge;
  uint32_t version;  // of the slot of the node behind it
};

// Of a program whose copies are shared. Reads in the order of the graph.
SharedVersions shared_versions(const Graph& graph, const Assignment& assignment,
                               const Redistributor& redistributor, std::span<const Slot> slots,
                               const Versions& versions, std::span<const VersionRead> reads);

}  // namespace shw
