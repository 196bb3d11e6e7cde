// Explanations under --overlap simulated. They must explain the plan that this option gives, at the
// prices under which it was found.
#include <gtest/gtest.h>

#include "answers/explain.h"
#include "answers/explain_plan.h"
#include "answers/nodes.h"
#include "compiler/exposure.h"
#include "packed.h"
#include "planned.h"

namespace shw::answers {
namespace {

CompileOptions simulated(const char* mesh) {
  CompileOptions options;
  options.mesh = mesh;
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.overlap.kind = Overlap::kSimulated;
  return options;
}

const std::vector<uint8_t>& block() {
  static const std::vector<uint8_t> graph = testing::graph_of(testing::kCases[0]);
  return graph;
}

Explanation explained(const CompileOptions& options, const ExplainRequest& request) {
  const auto model = testing::model_of(options, block());
  const ConstrainedModel question = testing::asked(*model);
  Monitor monitor;
  auto e = explain(question, request, options.solver, monitor);
  EXPECT_TRUE(e.ok()) << e.status().message();
  return std::move(*e);
}

Compiled planned(const CompileOptions& options) {
  Monitor monitor;
  auto compiled = shw::testing::compile_packed(block(), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return std::move(*compiled);
}

double step_of(const Compiled& plan) { return Exposure::of(plan.plan.program).step_us(); }

TEST(ExplainSimulated, IsOfThePlanAtItsPrices) {
  const CompileOptions options = simulated("dp=8");
  const Compiled plan = planned(options);
  const Explanation e = explained(options, {.node = "einsum_default_7", .forced_layouts = 4});
  EXPECT_EQ(e.step_us, step_of(plan));
  // Communication that the schedule hides is not charged in full.
  EXPECT_LT(e.objective_us, 0.8 * plan.plan.summary.objective_us);
  EXPECT_GE(e.objective_us, plan.plan.summary.compute_us);
  EXPECT_TRUE(e.proven);
  uint32_t forced = 0;
  for (const Alternative& a : e.alternatives) {
    EXPECT_GE(a.floor_us, e.certified_us * (1 - 1e-9));
    if (!a.forced || !a.forced->possible) continue;
    ++forced;
    EXPECT_LE(a.floor_us, a.forced->objective_us * (1 + 1e-9)) << a.layout;
    EXPECT_GE(a.forced->objective_us, e.objective_us * (1 - 1e-9)) << a.layout;
    EXPECT_GT(a.forced->step_us, 0) << a.layout;
    if (a.chosen) {
      EXPECT_EQ(a.forced->step_us, e.step_us);
    }
  }
  EXPECT_GE(forced, 4u);
}

// The node is the reduction of a gradient. The schedule hides a part of it, so its cost is below
// its full price.
TEST(ExplainSimulated, ChargesAShareOfWhatIsHidden) {
  const CompileOptions options = simulated("dp=8");
  const auto model = testing::model_of(options, block());
  const Explanation e = explained(options, {.node = "permute_37", .forced_layouts = 0});
  const NodeId node = *node_named(model->graph(), e.node);
  ASSERT_EQ(e.operands.size(), 1u);
  const EdgePrice& edge = e.operands.front();
  const double price = model->redistribution_us(node, edge.operand, *parse_layout(edge.from, 1),
                                                *parse_layout(edge.to, 1));
  ASSERT_GT(price, 0);
  EXPECT_GT(edge.comm_us, 0);
  EXPECT_LT(edge.comm_us, price);
  EXPECT_EQ(e.cost.comm_us, edge.comm_us);
}

TEST(ExplainSimulated, KeepsToTheMemoryLimit) {
  CompileOptions options = simulated("dp=8");
  options.memory_limit_bytes = planned(options).plan.summary.memory_peak_bytes * 3 / 4;
  const Explanation e = explained(options, {.node = "einsum_default_7"});
  EXPECT_EQ(e.step_us, step_of(planned(options)));
  EXPECT_LE(e.bound_us, e.objective_us);
}

TEST(ExplainSimulated, DoesNotExplainAPlanAsAWhole) {
  const CompileOptions options = simulated("dp=8");
  const auto model = testing::model_of(options, block());
  Monitor monitor;
  const auto none = explain_plan(testing::asked(*model), options.solver, monitor);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::kUnimplemented);
  EXPECT_NE(none.status().message().find("Name a node"), std::string::npos);
}

}  // namespace
}  // namespace shw::answers
