// Alternatives of manual regions: bodies with layouts and costs of their own, of which the solver
// picks one. Each that the mesh permits is one strategy of the node (ops/local_map.cc has their
// text form).
//
// A forward region may hand results to a backward region that mean something to the two bodies
// only: those behind the results with stated layouts. Then the two nodes take the alternative of
// the same number (placement/constraints.cc).
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

// Of a node that states its own layouts, by strategy; a sharding constraint has one.
// INVALID_ARGUMENT: the mesh permits none; the message has the cause for each.
Result<std::vector<StatedAlternative>> alternatives_on(const Graph& graph, NodeId n,
                                                       const Mesh& mesh);

// Adds why an alternative is refused to why those before it are. A sum of one is its own cause.
void add_refusal(const StatedAlternative& refused, const Status& cause, Status& sum);

// The name of the alternative that a strategy of the node is; empty if the node states just one.
std::string alternative_name(const Graph& graph, NodeId n, const Mesh& mesh, uint32_t strategy);

// A region that reads what another one saved, directly or through get_item. Both state several
// alternatives, equally many.
struct TiedRegions {
  NodeId saves, reads;
};
// INVALID_ARGUMENT, at the reader: the two do not state equally many.
Result<std::vector<TiedRegions>> tied_regions(const Graph& graph);

}  // namespace shw
