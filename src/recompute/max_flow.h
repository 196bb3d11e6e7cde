// The smallest cut between two nodes of a directed graph (Dinic 1970). Capacities are integers, so
// equal graphs give equal cuts on every machine.
#pragma once
#include <cstdint>
#include <vector>

namespace shw {

class MaxFlow {
 public:
  // No cut that is asked for contains such an edge.
  static constexpr int64_t kInfinite = int64_t{1} << 60;

  uint32_t add_node();
  void add_edge(uint32_t from, uint32_t to, int64_t capacity);

  // Runs once. By node: whether it lies on the sink's side of the smallest cut that is nearest to
  // the sink. All finite capacities together must be less than kInfinite.
  std::vector<uint8_t> sink_side(uint32_t source, uint32_t sink);

 private:
  struct Edge {
    uint32_t to;
    uint32_t next;  // of the same node; kNone: the last
    int64_t room;   // the edge with the last bit of the index flipped leads back
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  bool find_levels(uint32_t source, uint32_t sink);
  void fill_levels(uint32_t source, uint32_t sink);
  void push(const std::vector<uint32_t>& path);

  std::vector<uint32_t> first_;  // by node: its first edge
  std::vector<Edge> edges_;
  std::vector<uint32_t> level_;  // by node: edges from it to the sink; kNone: no way
  std::vector<uint32_t> at_;     // by node: the first edge that is not known to lead nowhere
};

}  // namespace shw
