// What must be in the padding of uneven pieces.
//
// A piece is as large as rank 0's; what the last ranks lack is padding at the end, and may hold
// anything. An op that keeps a cut dim leaves it where it is. An op that sums over a cut dim – its
// result is partial on that mesh dim – would add it, so its operands are filled before: with zeros
// for a sum (all of them: zero times what is no number is none), else with what changes no maximum,
// minimum or product. And integers are filled with zeros always: they may be indices.
//
// Lowering fills (lowering/padding.h), and the planner charges for it.
#pragma once
#include <optional>
#include <span>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

// Of operand `k` of the node, which lies as `lies`; nullopt: it has no padding, or anything will
// do. `operands`, `results`: the node's layouts; of all its operands and results.
std::optional<double> padding_wanted(const Graph& graph, const Mesh& mesh, NodeId node, size_t k,
                                     const Layout& lies, std::span<const Layout> operands,
                                     std::span<const Layout> results);

}  // namespace shw
