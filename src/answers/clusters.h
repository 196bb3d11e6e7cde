// Groups corresponding nodes of numbered modules with the same structure, such as
// "layers.3.attention.wq" and "layers.0.attention.wq". The solver places each one independently;
// tools that draw a plan show each group once.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace shw::answers {

// For each node, its counterpart in the module with the lowest numbers; no node if it has no
// counterpart. Counterparts have the same op, phase and type and occur at the same position in
// modules whose paths differ only in numbers. Inputs are never grouped.
std::vector<NodeId> cluster_roots(const Graph& graph);

}  // namespace shw::answers
