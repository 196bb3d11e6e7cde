// Looks up nodes of a model's graph by name.
#pragma once
#include <string_view>

#include "graph/graph.h"

namespace shw::answers {

// The node with that name, or whose input or output has that name ("param.<fqn>", "output").
// NOT_FOUND: none (the message suggests similar names). INVALID_ARGUMENT: the name is ambiguous.
Result<NodeId> node_named(const Graph& graph, std::string_view name);

}  // namespace shw::answers
