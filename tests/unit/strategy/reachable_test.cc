// Partials that no producer makes are left out on request, and nothing else is.
#include <gtest/gtest.h>

#include <set>

#include "placement/solve_placement.h"
#include "strategy/strategies.h"

namespace shw {
namespace {

// s = x·w + y. x·w is a partial sum if its inner dim is sharded. y is never partial.
Graph product_plus() {
  Graph g;
  const NodeId x = g.add_input("x", row_major(Dtype::kF32, {64, 32}), {.name = "0"});
  const NodeId w = g.add_input("w", row_major(Dtype::kF32, {32, 16}), {.name = "1"});
  const NodeId y = g.add_input("y", row_major(Dtype::kF32, {64, 16}), {.name = "2"});
  const NodeId p = g.add_node(OpKind::kMm, "p", {x, w}, {}, g.type(y));
  g.add_node(OpKind::kAdd, "s", {p, y}, {}, g.type(y));
  g.add_node(OpKind::kAdd, "t", {p, p}, {}, g.type(y));
  return g;
}

std::set<std::string> texts(const Graph& g, uint32_t n, bool reachable_only,
                            Rules rules = Rules::kFull) {
  Monitor monitor;
  const auto s = Strategies::enumerate(g, *Mesh::parse("a=2,b=2"),
                                       {.rules = rules, .reachable_only = reachable_only}, monitor);
  EXPECT_TRUE(s.ok());
  std::set<std::string> set;
  for (uint32_t i = 0; i < s->of(NodeId{n}).count; ++i)
    set.insert(strategy_text(*s, NodeId{n}, i, 2));
  return set;
}

TEST(Reachable, LeavesOutPartialsThatTheProducerNeverMakes) {
  const Graph g = product_plus();
  const auto all = texts(g, 4, false), reachable = texts(g, 4, true);
  EXPECT_TRUE(all.count("(RP, RP) -> RP"));
  EXPECT_FALSE(reachable.count("(RP, RP) -> RP")) << "y is never partial";
  EXPECT_FALSE(reachable.count("(RP(max), RR) -> RP(max)")) << "a product makes sums";
  EXPECT_TRUE(texts(g, 5, true).count("(RP, RP) -> RP")) << "both operands are the product";
  for (const std::string& s : all)
    EXPECT_EQ(reachable.count(s), s.find('P') == std::string::npos ? 1u : 0u) << s;
}

// Under `compat` prices, one kind of partial turns into another at no cost.
TEST(Reachable, LeavesOutOnlyPartialsOfWhatIsNeverPartialUnderCompat) {
  const Graph g = product_plus();
  const auto reachable = texts(g, 4, true, Rules::kCompat);
  EXPECT_TRUE(reachable.count("(RP(max), RR) -> RP(max)")) << "made from the product's sums";
  EXPECT_FALSE(reachable.count("(RP, RP) -> RP")) << "y is never partial";
  EXPECT_TRUE(texts(g, 4, false, Rules::kCompat).count("(RP, RP) -> RP"));
}

// Strategies that are left out have an infinite price, so the optimum does not change.
TEST(Reachable, ChangesNoOptimum) {
  const Graph g = product_plus();
  const Mesh mesh = *Mesh::parse("a=2,b=4");
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  for (const auto& [rules, prices] : {std::pair(Rules::kFull, cost::PriceRules::kFull),
                                      std::pair(Rules::kCompat, cost::PriceRules::kCompat)}) {
    double objective[2];
    for (const bool reachable_only : {false, true}) {
      Monitor monitor;
      const auto s = Strategies::enumerate(
          g, mesh, {.rules = rules, .reachable_only = reachable_only}, monitor);
      Pricer pricer(g, *s, *model, prices);
      const auto conditions = side_conditions(g, mesh, *s, {});
      auto problem = priced_problem(g, conditions->no_comm, pricer, monitor);
      ASSERT_TRUE(problem.ok()) << problem.status().message();
      add_conditions(*conditions, *problem);
      const auto placed = solve_placement(g, *s, *problem, pricer, {}, monitor);
      ASSERT_TRUE(placed.ok()) << placed.status().message();
      EXPECT_TRUE(placed->proven);
      objective[reachable_only] = placed->objective_us;
    }
    EXPECT_EQ(objective[0], objective[1]) << rules_name(rules);
  }
}

}  // namespace
}  // namespace shw
