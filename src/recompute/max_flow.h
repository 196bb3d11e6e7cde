// The minimum cut between two nodes of a directed graph (Dinic 1970). Capacities are integers, so
// equal graphs give equal cuts on every machine.
#pragma once
#include <cstdint>
#include <vector>

namespace shw {

class MaxFlow {
 public:
  // The capacity of an edge that no minimum cut may contain.
  static constexpr int64_t kInfinite = int64_t{1} << 60;

  uint32_t add_node();
  void add_edge(uint32_t from, uint32_t to, int64_t capacity);

  // By node: whether it lies on the sink's side of the minimum cut that is nearest to the sink. The
  // sum of all finite capacities must be less than kInfinite. May be called once only.
  std::vector<uint8_t> sink_side(uint32_t source, uint32_t sink);

 private:
  struct Edge {
    uint32_t to;
    uint32_t next;  // edge of the same node; kNone: this is the last
    int64_t room;   // residual capacity; the reverse edge has this index with the last bit flipped
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  bool find_levels(uint32_t source, uint32_t sink);
  void fill_levels(uint32_t source, uint32_t sink);
  void push(const std::vector<uint32_t>& path);

  std::vector<uint32_t> first_;  // by node: its first edge
  std::vector<Edge> edges_;
  std::vector<uint32_t> level_;  // by node: number of edges from it to the sink; kNone: no path
  std::vector<uint32_t> at_;     // by node: its first edge that is not known to be a dead end
};

}  // namespace shw
