// Placements from a file (format: plan/placements.h): each node in the file may use only the
// strategy with exactly these layouts; other nodes are free.
#pragma once
#include <string_view>
#include <vector>

#include "placement/constraints.h"

namespace shw {

inline constexpr size_t kMaxPlacementsText = 64 << 20;

// INVALID_ARGUMENT: the text is not such a file, is for another mesh, or has an unknown node, or
// layouts that no strategy of the node has. FAILED_PRECONDITION: another version of the format.
// Nodes of equal name correspond in order. `any_order`: strategies have no shard orders, because
// these are chosen after the solve. The orders in the file are kept in AllowedLabels::results and
// operands.
Result<std::vector<AllowedLabels>> read_placements(std::string_view json, const Graph& graph,
                                                   const Mesh& mesh, const Strategies& strategies,
                                                   bool any_order = false);

}  // namespace shw
