// Versions that uses of a value share: layouts into which the value is brought once, and from which
// several uses are served.
//
// Prices belong to pairs of nodes: each use pays for the change of layout from the choice point of
// its value. But a program makes each version of a value once, from the cheapest version that
// exists. Where the two differ, SharedVersions describes what the program does. So the planner can
// use the same prices, and can place the version itself (placement/share_versions.h).
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

// An operand of a node.
struct GraphEdge {
  NodeId node;
  uint32_t operand = 0;
  auto operator<=>(const GraphEdge&) const = default;
};

struct SharedVersions {
  static constexpr uint32_t kAsItLies = UINT32_MAX;

  // What an operand reads: the value of a node in the layout of the node, or a version of it.
  struct Source {
    NodeId value;  // the node itself, its choice point, or the operand of a choice point
    uint32_t version = kAsItLies;
    bool operator==(const Source&) const = default;
  };
  struct Version {
    Source from;       // the node, or an earlier version of it
    Layout layout;     // on the routes to several uses
    GraphEdge reader;  // one of these uses
    GraphEdge like;    // an edge that carries `from`; the version is priced like it
  };
  // An operand that is read from `from` rather than from its node in the graph.
  struct Read {
    GraphEdge edge;
    Source from;
    GraphEdge like;
  };

  std::vector<Version> versions;
  std::vector<Read> reads;     // sorted by edge
  std::vector<NodeId> unread;  // choice points whose layout no version in the program has

  bool empty() const { return reads.empty() && unread.empty(); }
  bool is_unread(NodeId alias) const { return std::ranges::binary_search(unread, alias); }
  // Null: the operand is read from its node in the graph.
  const Read* read(const GraphEdge& edge) const {
    const auto at = std::ranges::lower_bound(reads, edge, {}, &Read::edge);
    return at != reads.end() && at->edge == edge ? &*at : nullptr;
  }
};

}  // namespace shw
