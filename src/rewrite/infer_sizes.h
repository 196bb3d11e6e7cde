// Infers the sizes of a node's results as expressions of symbols, from the expressions of its
// operands.
//
// Operations infer types from numbers only. So the node's types are inferred at several sizes of
// each symbol. Two of them give the factor of the symbol; the others check that the sizes are
// affine.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

using SymbolicAttrs = std::vector<std::pair<AttrKey, AttrExprs>>;

// The sizes of each result of a node that is not yet in the graph; empty for a result whose sizes
// are numbers. `attrs` and `results` hold the values and types at the hints. INVALID_ARGUMENT: the
// node does not fit its operands at some size, or a size is not an affine expression. The message
// says at which sizes.
Result<std::vector<Exprs>> infer_sizes(const Graph& graph, OpKind op,
                                       std::span<const NodeId> operands, const Attrs& attrs,
                                       const SymbolicAttrs& symbolic,
                                       std::span<const std::optional<TensorType>> results);

}  // namespace shw
