// Reads layouts chosen by another planner as constraints, from three forms of JSON:
//
//   {"version": 1, "mesh": …, "nodes": [{"name", "output", "inputs"}]}   plan --save-placements
//   {"mesh": …, "nodes": [{"name", "placement", "inputs"}], "summary"}   plan --export-json, and
//                                                                        exports of AutoParallel
//   {"param.wq": "S(0)R", "mm_3": "RS(1)", …}                            results by name of a node,
//                                                                        input or output
//
// In the second form, nodes that the graph does not have, because another version of the rewrites
// made them, are ignored and counted. The planner chooses the layouts of nodes that a plan does not
// name.
#pragma once
#include <string_view>
#include <vector>

#include "compiler/prepared_model.h"
#include "placement/constraints.h"

namespace shw::compare {

struct ForeignLayouts {
  std::vector<AllowedLabels> choices;
  uint32_t num_unknown = 0;  // nodes of the plan that the graph does not have
};

// INVALID_ARGUMENT: none of these forms, for another mesh, an unknown name, or a layout that the
// node cannot have. FAILED_PRECONDITION: another version of the first form.
Result<ForeignLayouts> read_foreign_plan(std::string_view json, const PreparedModel& model);

}  // namespace shw::compare
