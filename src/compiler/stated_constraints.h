// Translates the texts of the options into constraints.
#pragma once
#include "compiler/options.h"
#include "placement/constraints.h"
#include "sharding/layout.h"

namespace shw {

// All constraints of the options except saved placements, which need strategies. `orders_later`:
// see PlacementConstraints.
Result<PlacementConstraints> stated_constraints(const CompileOptions& options, const Mesh& mesh,
                                                bool orders_later);
// The same with saved placements.
Result<PlacementConstraints> stated_constraints(const CompileOptions& options, const Graph& graph,
                                                const Mesh& mesh, const Strategies& strategies,
                                                bool orders_later);

}  // namespace shw
