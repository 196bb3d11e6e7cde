// A choice as the reference planner exports its own (planner.md 3.10): the mesh, every node with
// the layouts and the costs of its operands, and their sums, so that tools made for its files read
// ours.
//
// Names of layouts are the reference's ("P(sum)"); where a shard order is not the default,
// `shard_order` says it. Operations have the names that the caller gives them, or else ours. What
// is not known here is left out: source lines, clusters.
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
