// A choice as the reference planner exports its own (planner.md 3.10): the mesh, every node with
// the layouts and the costs of its operands, and their sums, so that tools made for its files read
// ours.
//
// Names of layouts are the reference's ("P(sum)"); where a shard order is not the default,
// `shard_order` says it. Operations have the names that the caller gives them, or else ours. Its
// clusters are what it ties; ours are nodes that do the same in modules that are alike
// (clusters.h), each placed on its own. Source lines are there if the graph has them ("FILE:LINE in
// FUNCTION: CODE").
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "compiler/planner.h"

namespace shw::answers {

using OpNames = std::function<std::string_view(const Graph&, NodeId)>;
inline std::string_view our_name(const Graph& graph, NodeId n) { return op_name(graph.op(n)); }

std::string export_json(Planner& planner, const Placed& placed, const OpNames& name_of = our_name);

}  // namespace shw::answers
