// The nodes that each entry of a graph runs.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace shw {

// By entry and node: 1 if the entry computes the node or, for an input, reads it. An entry computes
// what its outputs need, except what earlier entries of its session have computed.
std::vector<std::vector<uint8_t>> nodes_of_entries(const Graph& graph);

// By entry: the entries that ran before it in its session, directly or indirectly, excluding
// itself.
std::vector<std::vector<uint32_t>> entries_before(const std::vector<EntryInfo>& entries);

// By node, how often it runs: the sum of the weights of the entries that compute it; 1 if none
// does, so that it has a price.
std::vector<double> node_weights(const Graph& graph);

// Derives entries from a training graph by name: "step" (all outputs), "forward" (results, and
// updates of what is not trained), "backward" (gradients and other updates; after forward if that
// is included) and "infer" (as forward, saving nothing). Each has the inputs that it needs; "step"
// has all. INVALID_ARGUMENT: another name.
Result<std::vector<EntryInfo>> training_entries(const Graph& graph,
                                                std::span<const std::string> names);

// Replaces the inputs listed in each entry by those that its outputs need. State and constants are
// not listed.
void list_needed_inputs(const Graph& graph, std::vector<EntryInfo>& entries);

// INVALID_ARGUMENT: an entry is inconsistent.
Status verify_entries(const Graph& graph);

}  // namespace shw
