// Alternatives of manual regions. Each alternative is a body with its own layouts and costs, and
// the solver picks one. Each alternative that the mesh permits is one strategy of the node
// (ops/local_map.cc has their text form).
//
// A forward region may pass results to a backward region that only the two bodies can interpret:
// those after the results with stated layouts. Then both nodes must use the alternative of the same
// number (placement/constraints.cc).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

struct StatedAlternative {
  uint32_t number;              // among those that the node states
  std::string name;             // "tp", or "experts, alternative 1" if one name serves all; a
                                // node's only one has none
  Attrs attrs;                  // of a node that states this one alone
  std::vector<Layout> layouts;  // of the results, then of the operands
};

// The alternatives of a node that states its own layouts, by strategy. A sharding constraint has
// one. INVALID_ARGUMENT: the mesh permits none; the message has the cause for each.
Result<std::vector<StatedAlternative>> alternatives_on(const Graph& graph, NodeId n,
                                                       const Mesh& mesh);

// Adds the cause for refusing one alternative to `sum`, which has the causes for those before it.
// If only one was refused, the sum is just its cause.
void add_refusal(const StatedAlternative& refused, const Status& cause, Status& sum);

// The name of the alternative behind a strategy of the node; empty if the node states only one.
std::string alternative_name(const Graph& graph, NodeId n, const Mesh& mesh, uint32_t strategy);

// A region that reads results that another one saved, directly or through get_item. Both state the
// same number of alternatives, more than one.
struct TiedRegions {
  NodeId saves, reads;
};
// INVALID_ARGUMENT, at the reader: the two state different numbers of alternatives.
Result<std::vector<TiedRegions>> tied_regions(const Graph& graph);

}  // namespace shw
