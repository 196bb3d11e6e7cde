// The contents of a report as one JSON object. Where the library has JSON output for something, the
// object includes that output unchanged, so the two cannot differ. The rest are columns, whose
// texts and prices are indices into `texts` and `numbers` (tables.h).
//
//   plan      plan_json() without decisions        tree  module_tree_json()
//   mesh      name, size of each mesh dim
//   nodes     columns: name, op, phase, module, operands, result, compute, comm, transition
//   ports     columns: name, role, type, piece, layout, bytes (of one rank)
//   entries   for each: columns of its steps in the simulated run, its queues, its memory by kind
//   graph     whether the plan stores its graph: without it, steps have no names
//   reasons   by node: operands [producer, from, to, µs], alternatives [layout, µs over the plan];
//             and Explanations of one parameter of each kind; null: no planner was asked
//   pareto    pareto_json(), or null
//   other     for a second plan: its plan_json(), and to_json(PlanDiff); or null
#pragma once
#include <string>

#include "plan/plan.h"
#include "report/reasons.h"

namespace shw::report {

struct Extras {
  const Plan* other = nullptr;
  const Reasons* reasons = nullptr;
  std::string pareto = {};  // pareto_json(); empty: none
};

Result<std::string> document(const Plan& plan, const Extras& extras);

// A self-contained HTML page that shows the document.
Result<std::string> page(const Plan& plan, const Extras& extras);

}  // namespace shw::report
