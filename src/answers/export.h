// Exports a choice in the reference planner's JSON format: the mesh, every node with its layouts
// and the costs of its operands, and their sums. So tools for the reference planner can read these
// files.
//
// Layout names are the reference planner's ("P(sum)"); `shard_order` states an order other than the
// default. Op names are supplied by the caller, or ours. In the reference planner's files, clusters
// are nodes tied to one strategy; here they are counterparts in repeated modules (clusters.h), each
// placed independently. Source lines are included if the graph has them ("FILE:LINE in FUNCTION:
// CODE").
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "compiler/prepared_model.h"

namespace shw::answers {

using OpNames = std::function<std::string_view(const Graph&, NodeId)>;
inline std::string_view our_name(const Graph& graph, NodeId n) { return op_name(graph.op(n)); }

std::string export_json(const PreparedModel& model, const Placed& placed,
                        const OpNames& name_of = our_name);

}  // namespace shw::answers
