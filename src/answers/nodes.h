// Nodes of a planner's graph by the names that people use.
#pragma once
#include <string_view>

#include "graph/graph.h"

namespace shw::answers {

// The node of that name, or with that name as an input or output ("param.<fqn>", "output").
// NOT_FOUND: there is none (the message offers some that are like it); INVALID_ARGUMENT: there are
// several.
Result<NodeId> node_named(const Graph& graph, std::string_view name);

}  // namespace shw::answers
