// What uses of a value have in common: layouts into which it is brought once, and from which
// several of its uses are served.
//
// Prices belong to pairs of nodes: a use pays for the way from the choice point behind its value. A
// program makes each version of a value once, from whichever is the cheapest that is there. Where
// the two differ, this says how the program goes, so that the planner can price it so, and place
// the version itself (placement/share_versions.h).
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

  // What is read: the value of a node as it lies, or a version of it.
  struct Source {
    NodeId value;  // it, its choice point, or what it is a choice point of
    uint32_t version = kAsItLies;
    bool operator==(const Source&) const = default;
  };
  struct Version {
    Source from;       // the node, or an earlier version of it
    Layout layout;     // on the way to several
    GraphEdge reader;  // one of these
    GraphEdge like;    // an edge that carries `from`, to price it by
  };
  // An operand that is not read from the node behind it.
  struct Read {
    GraphEdge edge;
    Source from;
    GraphEdge like;
  };

  std::vector<Version> versions;
  std::vector<Read> reads;     // sorted by edge
  std::vector<NodeId> unread;  // choice points in whose layout the program has no version

  bool empty() const { return reads.empty() && unread.empty(); }
  bool is_unread(NodeId alias) const { return std::ranges::binary_search(unread, alias); }
  // Null: it is read from the node behind it.
  const Read* read(const GraphEdge& edge) const {
    const auto at = std::ranges::lower_bound(reads, edge, {}, &Read::edge);
    return at != reads.end() && at->edge == edge ? &*at : nullptr;
  }
};

}  // namespace shw
