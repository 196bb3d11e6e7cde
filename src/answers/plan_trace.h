// The simulated run of a plan as Chrome trace events (simulate/trace.h), with the names and modules
// of the graph that it was made from.
#pragma once
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "simulate/trace.h"

namespace shw::answers {

// `entry`: its name; empty: all entries, one after another. A plan without its graph is traced
// without names. NOT_FOUND: there is no such entry.
Result<std::string> plan_trace(const Plan& plan, std::string_view entry);

// Names and modules of the nodes of the graph that the plan was made from, indexed by
// ProgramStep::node; empty: the plan does not store its graph.
Result<std::vector<TraceNode>> source_nodes(const Plan& plan);

}  // namespace shw::answers
