// The sizes of a node's results as expressions of symbols, from those of its operands.
//
// Operations infer types from numbers. So the node is inferred at several sizes of each symbol: two
// of them give the factor of the symbol, the others tell whether the sizes are affine at all.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

using SymbolicAttrs = std::vector<std::pair<AttrKey, AttrExprs>>;

// For each result of a node that is not yet in the graph, its sizes; empty for a result whose sizes
// are numbers. `attrs` holds the values at the hints, and `results` the types there.
// INVALID_ARGUMENT: the node does not fit its operands at some size, or a size is no affine
// expression; the message says at which sizes.
Result<std::vector<Exprs>> infer_sizes(const Graph& graph, OpKind op,
                                       std::span<const NodeId> operands, const Attrs& attrs,
                                       const SymbolicAttrs& symbolic,
                                       std::span<const std::optional<TensorType>> results);

}  // namespace shw
