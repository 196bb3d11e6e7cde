// Checks ranges against problems that are priced again at factors just inside and just outside of
// them.
#include "answers/ranges.h"

#include <gtest/gtest.h>

#include <cmath>

#include "answers/explain_plan.h"
#include "planned.h"

namespace shw::answers {
namespace {

using testing::Case;
using testing::kCases;

// The planner's problem with communication costs multiplied by `factor`, built from the prices of
// single pairs.
solver::PlacementProblem priced_at(const PreparedModel& model, double factor) {
  const Graph& graph = model.graph();
  const Strategies& all = model.strategies();
  const SideConditions conditions = testing::asked(model).conditions();
  solver::PlacementProblem problem;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    problem.add_variable(model.compute_us(NodeId{i}));
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const auto operands = graph.operands(NodeId{i});
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      std::vector<double> costs;
      const auto from = all.pool().list(all.produced(graph, NodeId{i}, k));
      const uint32_t columns = all.of(NodeId{i}).count;
      for (const LayoutId f : from)
        for (uint32_t s = 0; s < columns; ++s) {
          const Layout &a = all.pool().layout(f), &b = all.operand_layout(NodeId{i}, k, s);
          const double comm = model.redistribution_us(NodeId{i}, k, a, b);
          const bool forbidden = conditions.no_comm[i] && comm > 0;
          costs.push_back(forbidden ? solver::kForbidden
                                    : factor * comm + cost::transition_us(a, b));
        }
      problem.add_edge(operands[k].v, i,
                       problem.add_matrix(static_cast<uint32_t>(from.size()), columns, costs));
    }
  }
  add_conditions(conditions, problem);
  return problem;
}

class Ranges : public ::testing::TestWithParam<Case> {};

TEST_P(Ranges, EndWhereAnotherPlanIsCheaper) {
  const auto model = testing::model_of(GetParam());
  Monitor monitor;
  const ConstrainedModel asked = testing::asked(*model);
  const auto plan = model->solve(asked.problem(), {}, monitor);
  ASSERT_TRUE(plan.ok());
  const auto range = communication_range(asked, *plan, {}, monitor);
  ASSERT_TRUE(range.ok()) << range.status().message();
  EXPECT_TRUE(range->exact);
  EXPECT_LE(range->from, 1);
  EXPECT_GE(range->to, 1);
  const auto advantage = [&](double factor) {  // of the best plan there over ours; relative
    const solver::PlacementProblem there = priced_at(*model, factor);
    const auto best = solver::solve(there, {}, monitor);
    EXPECT_TRUE(best.ok());
    return 1 - best->cost / solver::evaluate(there, plan->choice);
  };
  EXPECT_NEAR(advantage(1), 0, 1e-9);
  for (const double end : {range->from, range->to}) {
    SCOPED_TRACE(end);
    if (end == 0 || end == kMaxFactor) continue;
    EXPECT_NEAR(advantage(end), 0, 2e-9);
    EXPECT_NEAR(advantage((1 + end) / 2), 0, 1e-9);  // costs are linear: 0 everywhere in between
    EXPECT_GT(advantage(end < 1 ? end * 0.9 : end * 1.1), 1e-9);
  }
  EXPECT_EQ(range->below.has_value(), range->from > 0);
  EXPECT_EQ(range->above.has_value(), range->to < kMaxFactor);
  // At the ends of the range, the rival plans are as good as the plan.
  for (const auto& [rival, at] : {std::pair(range->below, range->from), {range->above, range->to}})
    if (rival) {
      const NodeCost& t = plan->total;
      EXPECT_NEAR(rival->compute_us + rival->transition_us + at * rival->comm_us,
                  t.compute_us + t.transition_us + at * t.comm_us, 1e-7 * plan->objective_us);
      EXPECT_GT(rival->changed_nodes, 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Ranges, ::testing::Values(kCases[0], kCases[1], kCases[2]),
                         [](const auto& c) { return name_of(c.param); });

TEST(MemoryRange, HoldsTheLimitsAtWhichThePlanIsTheBest) {
  CompileOptions options = testing::options_of(kCases[1]);
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.optimizer_factor = 2;
  solver::SolveOptions few;
  few.max_branch_nodes = 10;
  Monitor monitor;
  const auto model = testing::model_of(options, testing::graph_of(kCases[1]));
  const ConstrainedModel free_model = testing::asked(*model);
  const auto free = place(free_model, few, monitor);
  ASSERT_TRUE(free.ok());
  const auto unlimited = memory_range(free_model, *free, few, monitor);
  ASSERT_TRUE(unlimited.ok());
  EXPECT_EQ(unlimited->from_bytes, free->memory.peak_bytes);
  EXPECT_EQ(unlimited->to_below_bytes, HUGE_VAL);

  options.memory_limit_bytes = static_cast<int64_t>(free->memory.peak_bytes * 0.8);
  const auto asked = ConstrainedModel::create(*model, options, monitor);
  ASSERT_TRUE(asked.ok()) << asked.status().message();
  const auto tight = place(*asked, few, monitor);
  ASSERT_TRUE(tight.ok()) << tight.status().message();
  const auto range = memory_range(*asked, *tight, few, monitor);
  ASSERT_TRUE(range.ok()) << range.status().message();
  EXPECT_LE(range->from_bytes, asked->memory_limit());
  EXPECT_GE(range->to_at_least_bytes, asked->memory_limit());
  const auto best_within = [&](double bytes) {
    return place(*asked, std::ceil(bytes), few, monitor)->objective_us;
  };
  EXPECT_EQ(range->from_bytes, std::max(tight->memory.peak_bytes, tight->memory.program_bytes));
  EXPECT_GE(best_within(range->to_at_least_bytes), tight->objective_us * (1 - 1e-9));
  EXPECT_LT(best_within(range->to_below_bytes), tight->objective_us * (1 - 1e-9));
  EXPECT_LE(range->to_below_bytes, 1.0011 * range->to_at_least_bytes);
}

TEST(ExplainPlan, NamesTheEdgesThatPayMost) {
  const auto model = testing::model_of(kCases[1]);
  Monitor monitor;
  const auto got = explain_plan(testing::asked(*model), {}, monitor);
  ASSERT_TRUE(got.ok()) << got.status().message();
  ASSERT_FALSE(got->dearest.empty());
  double sum = 0;
  for (size_t i = 0; i < got->dearest.size(); ++i) {
    sum += got->dearest[i].comm_us;
    if (i > 0) {
      EXPECT_LE(got->dearest[i].comm_us, got->dearest[i - 1].comm_us);
    }
  }
  EXPECT_LE(sum, got->total.comm_us * (1 + 1e-9));
  double of_groups = 0;
  size_t edges = 0;
  for (const EdgeGroup& g : got->groups) {
    of_groups += g.comm_us;
    edges += g.count;
  }
  EXPECT_NEAR(of_groups, got->total.comm_us, 1e-9 * got->total.comm_us);
  EXPECT_EQ(edges, got->paying_edges);
  EXPECT_LT(got->groups.size(), edges);  // two layers have equal edges
  EXPECT_NEAR(got->total.compute_us + got->total.comm_us + got->total.transition_us,
              got->objective_us, 1e-9 * got->objective_us);
}

}  // namespace
}  // namespace shw::answers
