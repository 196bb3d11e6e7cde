// Decides which value must fill the padding of uneven pieces.
//
// All pieces have the size of rank 0's. On the last ranks, the end of a piece may be padding with
// undefined contents. An op that keeps a cut dim leaves the padding in place. An op that reduces
// over a cut dim, so that its result is partial on that mesh dim, would include the padding. So its
// operands are filled first. For a sum, all operands are filled with zeros, since zero times NaN is
// NaN. For a maximum, minimum or product, the value is one that does not change the result.
// Integers are always filled with zeros, because they may be indices.
//
// Lowering fills the padding (lowering/padding.h), and the planner charges for it.
#pragma once
#include <optional>
#include <span>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

// The value for operand `k` of the node, which has layout `lies`. nullopt: it has no padding, or
// any value will do. `operands`, `results`: the layouts of all operands and results of the node.
std::optional<double> padding_wanted(const Graph& graph, const Mesh& mesh, NodeId node, size_t k,
                                     const Layout& lies, std::span<const Layout> operands,
                                     std::span<const Layout> results);

}  // namespace shw
