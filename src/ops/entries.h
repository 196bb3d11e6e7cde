// What each entry of a graph runs.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace shw {

// By entry and by node: 1 if the entry computes the node, or, for an input, reads it. An entry
// computes what its outputs need and no entry before it in its session has computed.
std::vector<std::vector<uint8_t>> nodes_of_entries(const Graph& graph);

// By entry: those that ran before it in its session, directly or not; itself not among them.
std::vector<std::vector<uint32_t>> entries_before(const std::vector<EntryInfo>& entries);

// By node, how often it runs: the sum of the weights of the entries that compute it. Of a node that
// none computes 1, so that it has a price.
std::vector<double> node_weights(const Graph& graph);

// Entries of a training graph, by name: "step" (all outputs), "forward" (results), "backward"
// (gradients and updates, after forward if that is among them) and "infer" (results, leaving
// nothing to others). Each takes the inputs that it needs, "step" all. INVALID_ARGUMENT: another
// name.
Result<std::vector<EntryInfo>> training_entries(const Graph& graph,
                                                std::span<const std::string> names);

// Lists in each entry the inputs that its outputs need, in place of those that were listed. State
// and constants are not listed.
void list_needed_inputs(const Graph& graph, std::vector<EntryInfo>& entries);

// INVALID_ARGUMENT: an entry that cannot be run as it is described.
Status verify_entries(const Graph& graph);

}  // namespace shw
