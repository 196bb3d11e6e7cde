// Finds where a program differs from the plan's prices: it makes a version of a value for several
// uses, or a use reads another version than the plan assumes (strategy/shared_versions.h).
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

// The version that an operand reads.
struct VersionRead {
  GraphEdge edge;
  uint32_t version;  // index into the versions of the operand's slot
};

// The program must have shared copies. `reads`: in the order of the graph.
SharedVersions shared_versions(const Graph& graph, const Assignment& assignment,
                               const Redistributor& redistributor, std::span<const Slot> slots,
                               const Versions& versions, std::span<const VersionRead> reads);

}  // namespace shw
