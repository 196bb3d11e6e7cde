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
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

struct StatedAlternative {
  uint32_t number;              // among those that the node states
  Attrs attrs;                  // of a node that states this one alone
  std::vector<Layout> layouts;  // of the results, then of the operands
};

// Of a node that states its own layouts, by strategy; a sharding constraint has one.
// INVALID_ARGUMENT: the mesh permits none; the message has the cause for each.
Result<std::vector<StatedAlternative>> alternatives_on(const Graph& graph, NodeId n,
                                                       const Mesh& mesh);

// The alternatives that are refused, by number, with the cause. At least one.
using Refusals = std::vector<std::pair<uint32_t, Status>>;
// Where all are: the cause; of several alternatives, all causes.
Status none_possible(const Refusals& refusals);

// What tells the alternative of a strategy from the others: "experts.tp", or "experts, alternative
// 1" if all have one region's name. Empty: the node states one alternative only.
Result<std::string> alternative_name(const Graph& graph, NodeId n, const Mesh& mesh,
                                     uint32_t strategy);

// A region that reads what another one saved, directly or through get_item. One of the two states
// several alternatives, and both state equally many.
struct TiedRegions {
  NodeId saves, reads;
};
// INVALID_ARGUMENT, at the reader: the two do not state equally many.
Result<std::vector<TiedRegions>> tied_regions(const Graph& graph);

}  // namespace shw
