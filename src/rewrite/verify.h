// Verifies properties of a graph that its readers cannot check: each node has the operands and
// attributes that its op requires, and its recorded shapes and dtypes equal the inferred ones.
// Recorded strides are facts about the source framework and may differ.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/reader.h"
#include "support/status.h"

namespace shw {

// INVALID_ARGUMENT with the node at fault. Safe on any Graph, however it was built.
Status verify_graph(const Graph& graph);

// Infers the result types of a node to be added; checks operands and attributes as verify_graph
// does. Operands must be nodes of the graph, or kNoNode.
Result<std::vector<std::optional<TensorType>>> infer_results(const Graph& graph, OpKind op,
                                                             std::span<const NodeId> operands,
                                                             const Attrs& attrs);

// read_graph, or parse_graph where the bytes are text, then verify_graph: for bytes from outside.
Result<Graph> load_graph(std::span<const uint8_t> bytes, const GraphLimits& limits = {});

// Appends the operands that were left out at the end and may be absent: optional ones, and those
// that are numbers among the attributes.
void add_absent_operands(OpKind op, const Attrs& attrs, std::vector<NodeId>& operands);

}  // namespace shw
