// Strategies in all orders in which mesh dims can cut one tensor dim.
#include <gtest/gtest.h>

#include <set>

#include "graph/text.h"
#include "strategy/strategies.h"

namespace shw {
namespace {

constexpr const char* kGraph = R"(
input param.w: %w : f32[64,16]
input param.u: %u : f32[12,16]
input input.0: %x : f32[64,16]
%p = permute(%w, dims=[1,0]) : f32[16,64]{1,16}
%r = relu(%p) : f32[16,64]
%y = relu(%x) : f32[64,16]
%g = relu(%w) : f32[64,16]
%s = add(%x, %w) : f32[64,16]
%z = relu(%s) : f32[64,16]
return output.0 = %y, output.1 = %r, output.2 = %z, grad.w = %g
)";

std::set<std::string> texts(const std::string& node, bool shard_orders, const char* mesh) {
  const auto g = parse_graph(kGraph);
  EXPECT_TRUE(g.ok()) << g.status().message();
  Monitor monitor;
  const auto s =
      Strategies::enumerate(*g, *Mesh::parse(mesh), {.shard_orders = shard_orders}, monitor);
  EXPECT_TRUE(s.ok()) << s.status().message();
  std::set<std::string> set;
  for (uint32_t i = 0; i < g->num_nodes(); ++i) {
    const NodeId n{i};
    if (g->name(n) != node) continue;
    for (uint32_t k = 0; k < s->of(n).count; ++k)
      set.insert(strategy_text(*s, n, k, Mesh::parse(mesh)->rank()));
    EXPECT_EQ(set.size(), s->of(n).count) << "a strategy is listed twice";
  }
  return set;
}

size_t with_another_order(const std::set<std::string>& strategies) {
  size_t count = 0;
  for (const std::string& s : strategies) count += s.find('|') != std::string::npos;
  return count;
}

TEST(ShardOrders, AreBothOfferedForParametersAndWhatIsMadeOfThem) {
  const auto w = texts("w", true, "a=2,b=4");
  EXPECT_EQ(with_another_order(w), 2u) << "one a tensor dim";
  EXPECT_TRUE(w.count("() -> S(0)S(0)") && w.count("() -> S(0)S(0)|1,0"));
  const auto g = texts("g", true, "a=2,b=4");
  EXPECT_TRUE(g.count("(S(1)S(1)|1,0) -> S(1)S(1)|1,0"));
}

TEST(ShardOrders, OfThreeMeshDimsAreSix) {
  const auto w = texts("w", true, "a=2,b=2,c=2");
  for (const char* order : {"", "|0,2,1", "|1,0,2", "|1,2,0", "|2,0,1", "|2,1,0"})
    EXPECT_TRUE(w.count("() -> S(0)S(0)S(0)" + std::string(order))) << order;
  EXPECT_TRUE(w.count("() -> S(0)S(1)S(0)|2,1,0")) << "only the two that cut dim 0 change places";
  // Three mesh dims: 2 · 5 ways with all of them on one of the two tensor dims, and 3 · 2 · 2 ways
  // with two of them on one dim and the third elsewhere.
  EXPECT_EQ(with_another_order(w), 22u);
}

TEST(ShardOrders, OfFourMeshDimsAreThoseOfParametersAndGradients) {
  const char* const mesh = "a=2,b=2,c=2,d=2";
  EXPECT_TRUE(texts("w", true, mesh).count("() -> S(0)S(0)S(0)S(0)|3,1,2,0"));
  EXPECT_GT(with_another_order(texts("p", true, mesh)), 0u) << "made of a parameter alone";
  EXPECT_GT(with_another_order(texts("g", true, mesh)), 0u) << "a gradient";
  EXPECT_EQ(with_another_order(texts("s", true, mesh)), 0u) << "of a parameter and an input";
  EXPECT_GT(with_another_order(texts("s", true, "a=2,b=2,c=2")), 0u);
}

TEST(ShardOrders, OfOperandsAndResultsAreTheSame) {
  const auto p = texts("p", true, "a=2,b=4");
  EXPECT_TRUE(p.count("(S(0)S(0)|1,0) -> S(1)S(1)|1,0"));
  EXPECT_EQ(with_another_order(p), 2u);
}

TEST(ShardOrders, ThatCallersSeeAreTheDefault) {
  for (const char* node : {"x", "y", "r"})
    EXPECT_EQ(with_another_order(texts(node, true, "a=2,b=4")), 0u) << node;
}

TEST(ShardOrders, OfUnevenShardsAreTheDefault) {
  EXPECT_TRUE(texts("u", true, "a=2,b=4").count("() -> S(0)S(0)")) << "12 over 8 ranks";
  EXPECT_EQ(with_another_order(texts("u", true, "a=2,b=4")), 1u) << "S(1)S(1), of 16";
}

TEST(ShardOrders, AreNotOfferedUnasked) {
  for (const char* node : {"w", "p", "g"})
    EXPECT_EQ(with_another_order(texts(node, false, "a=2,b=4")), 0u) << node;
}

TEST(ShardOrders, AreNoneOfTheReferences) {
  const StrategyOptions options{.rules = Rules::kCompat, .shard_orders = true};
  EXPECT_EQ(options.check().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw
