// Which nodes do the same in numbered modules that are alike: "layers.3.attention.wq" and
// "layers.0.attention.wq". The solver places each on its own; tools that draw a plan fold them.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace shw::answers {

// By node: the one that does the same in the module of the lowest numbers; no node where it is
// alone. Alike
// are results of one op, phase and type that come in the same place in modules whose paths differ
// in their numbers alone. Inputs are not told apart from one another, and are alone.
std::vector<NodeId> cluster_roots(const Graph& graph);

}  // namespace shw::answers
