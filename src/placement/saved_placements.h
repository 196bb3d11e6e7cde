// Placements from a file (plan/placements.h says how it looks): each node that the file names is
// left the strategy with exactly these layouts, the others are free.
#pragma once
#include <string_view>
#include <vector>

#include "placement/constraints.h"

namespace shw {

inline constexpr size_t kMaxPlacementsText = 64 << 20;

// INVALID_ARGUMENT: not such a file; of another mesh; a node that is not there; layouts that no
// strategy of the node has. FAILED_PRECONDITION: of another version. Nodes with the same name are
// meant in the order in which they stand. `any_order`: shard orders are none of the strategies' and
// chosen after the solve, so those in the file do not count.
Result<std::vector<AllowedLabels>> read_placements(std::string_view json, const Graph& graph,
                                                   const Mesh& mesh, const Strategies& strategies,
                                                   bool any_order = false);

}  // namespace shw
