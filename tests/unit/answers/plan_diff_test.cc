// The differences between plans add up, and a what-if plan depends only on the changed options.
#include "answers/plan_diff.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "answers/what_if.h"
#include "packed.h"
#include "planned.h"

namespace shw::answers {
namespace {

using testing::kCases;

size_t nodes_in(const PlanDiff& d) {
  size_t count = d.unchanged + d.operands_only.size();
  for (const LayoutChange& c : d.changes) count += c.nodes.size();
  return count;
}

WhatIf changed(const CompileOptions& before, const CompileOptions& after) {
  Monitor monitor;
  auto answer = what_if(testing::graph_of(kCases[1]), before, after, monitor);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return std::move(*answer);
}

TEST(PlanDiff, OfAPlanAndItselfIsNothing) {
  const CompileOptions options = testing::options_of(kCases[1]);
  const WhatIf answer = changed(options, options);
  EXPECT_TRUE(answer.shared);
  Plan after = answer.after.plan;
  EXPECT_NEAR(after.summary.bound_us, answer.before.plan.summary.bound_us,
              1e-9 * after.summary.objective_us);  // proven twice, the second time by the first
  after.summary.bound_us = answer.before.plan.summary.bound_us;
  EXPECT_EQ(write_plan(after), answer.before.bytes);
  EXPECT_EQ(answer.diff.unchanged, answer.before.plan.summary.num_nodes);
  EXPECT_EQ(nodes_in(answer.diff), answer.diff.unchanged);
  EXPECT_TRUE(answer.diff.only_before.empty() && answer.diff.only_after.empty());
}

TEST(PlanDiff, CountsEveryNodeOnceAndTheMostFrequentChangesFirst) {
  const CompileOptions before = testing::options_of(kCases[1]);
  CompileOptions after = before;
  after.pins.emplace_back("param.*", "RR");
  const WhatIf answer = changed(before, after);
  const PlanDiff& d = answer.diff;
  EXPECT_TRUE(answer.shared);
  EXPECT_EQ(nodes_in(d), answer.before.plan.summary.num_nodes);
  ASSERT_FALSE(d.changes.empty());
  EXPECT_TRUE(std::is_sorted(d.changes.begin(), d.changes.end(), [](const auto& a, const auto& b) {
    return a.nodes.size() > b.nodes.size();
  }));
  for (const LayoutChange& c : d.changes) {
    EXPECT_NE(c.from, c.to);
    for (const std::string& node : c.nodes)
      for (const auto& [plan, layout] :
           {std::pair(&answer.before.plan, &c.from), std::pair(&answer.after.plan, &c.to)})
        EXPECT_TRUE(std::any_of(plan->summary.decisions.begin(), plan->summary.decisions.end(),
                                [&, want = layout](const NodeDecision& n) {
                                  return n.name == node && n.result_layout == *want;
                                }));
  }
  EXPECT_EQ(d.before.objective_us, answer.before.plan.summary.objective_us);
  EXPECT_EQ(d.after.objective_us, answer.after.plan.summary.objective_us);
  EXPECT_GT(d.after.parameter_bytes, d.before.parameter_bytes);
  for (const PlanFigures* f : {&d.before, &d.after}) {
    EXPECT_EQ(f->peak_by_kind.at("parameters"), f->parameter_bytes);
    int64_t sum = 0;
    for (const auto& kind : f->peak_by_kind) sum += kind.second;
    EXPECT_EQ(sum, f->memory_peak_bytes);
  }
}

TEST(PlanDiff, TellsWhichNodesOnePlanDoesNotHave) {
  const CompileOptions before = testing::options_of(kCases[1]);
  CompileOptions after = before;
  after.einsum = false;
  const WhatIf answer = changed(before, after);
  const PlanDiff& d = answer.diff;
  EXPECT_FALSE(answer.shared);
  EXPECT_FALSE(d.only_before.empty());
  EXPECT_FALSE(d.only_after.empty());
  EXPECT_EQ(nodes_in(d) + d.only_before.size(), answer.before.plan.summary.num_nodes);
  EXPECT_EQ(nodes_in(d) + d.only_after.size(), answer.after.plan.summary.num_nodes);
}

TEST(WhatIf, PlansAreThoseOfTheirOptionsAlone) {
  const CompileOptions before = testing::options_of(kCases[1]);
  const std::vector<uint8_t> graph = testing::graph_of(kCases[1]);
  std::vector<CompileOptions> afters(6, before);
  afters[0].pins.emplace_back("output", "RR");
  afters[1].parameter_budget.kind = ParameterBudget::Kind::kNone;
  afters[2].input_layout.clear();
  afters[3].mesh = "dp=4,tp=2";
  afters[4].hardware = "a100";
  afters[5].rules = Rules::kCompat;
  for (size_t i = 0; i < afters.size(); ++i) {
    SCOPED_TRACE(i);
    if (i == 0) afters[i].output_layout.clear();
    const WhatIf answer = changed(before, afters[i]);
    EXPECT_EQ(answer.shared, i < 3);
    Monitor monitor;
    const auto alone = shw::testing::compile_packed(graph, afters[i], monitor);
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(answer.after.bytes, alone->bytes);
  }
}

}  // namespace
}  // namespace shw::answers
