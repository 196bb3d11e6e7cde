#include "recompute/max_flow.h"

#include <gtest/gtest.h>

#include <random>

namespace shw {
namespace {

struct Edge {
  uint32_t from, to;
  int64_t capacity;
};

// The capacity of the edges that lead from the source's side to the sink's side.
int64_t cut_of(const std::vector<Edge>& edges, const std::vector<uint8_t>& sink_side) {
  int64_t sum = 0;
  for (const Edge& e : edges)
    if (!sink_side[e.from] && sink_side[e.to]) sum += e.capacity;
  return sum;
}

std::vector<uint8_t> side_of(uint32_t nodes, const std::vector<Edge>& edges) {
  MaxFlow flow;
  for (uint32_t n = 0; n < nodes; ++n) flow.add_node();
  for (const Edge& e : edges) flow.add_edge(e.from, e.to, e.capacity);
  return flow.sink_side(0, 1);
}

TEST(MaxFlow, IsTheSmallestOfAllCuts) {
  std::mt19937 generator(3);
  const auto random = [&] { return static_cast<uint32_t>(generator()); };
  for (int round = 0; round < 400; ++round) {
    const uint32_t nodes = 2 + random() % 7;
    std::vector<Edge> edges;
    for (uint32_t i = random() % 24; i-- > 0;)
      edges.push_back({random() % nodes, random() % nodes, random() % 9});
    const std::vector<uint8_t> side = side_of(nodes, edges);
    ASSERT_FALSE(side[0]);
    ASSERT_TRUE(side[1]);
    int64_t smallest = MaxFlow::kInfinite;
    uint32_t fewest = nodes;  // fewest nodes on the sink's side of a smallest cut
    for (uint32_t bits = 0; bits < 1u << (nodes - 2); ++bits) {
      std::vector<uint8_t> any{0, 1};
      for (uint32_t n = 2; n < nodes; ++n) any.push_back(bits >> (n - 2) & 1);
      const int64_t cut = cut_of(edges, any);
      const auto count = static_cast<uint32_t>(std::count(any.begin(), any.end(), 1));
      if (cut < smallest) smallest = cut, fewest = nodes;
      if (cut == smallest) fewest = std::min(fewest, count);
    }
    EXPECT_EQ(cut_of(edges, side), smallest);
    EXPECT_EQ(std::count(side.begin(), side.end(), 1), fewest) << "not the nearest to the sink";
  }
}

TEST(MaxFlow, NeverCutsAnInfiniteEdge) {
  const std::vector<uint8_t> side =
      side_of(4, {{0, 2, MaxFlow::kInfinite}, {2, 3, 5}, {3, 1, MaxFlow::kInfinite}, {0, 3, 4}});
  EXPECT_FALSE(side[2]);
  EXPECT_TRUE(side[3]);
}

TEST(MaxFlow, FollowsPathsOfManyEdges) {
  constexpr uint32_t kLength = 50000;
  std::vector<Edge> edges{{0, 2, 7}};
  for (uint32_t n = 2; n < kLength; ++n) edges.push_back({n, n + 1, n == kLength / 2 ? 3 : 7});
  edges.push_back({kLength, 1, 7});
  const std::vector<uint8_t> side = side_of(kLength + 1, edges);
  EXPECT_FALSE(side[kLength / 2]);
  EXPECT_TRUE(side[kLength / 2 + 1]);
}

}  // namespace
}  // namespace shw
