// Compares explanations with plans that really force the layouts that an explanation speaks of.
#include "answers/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "answers/nodes.h"
#include "compiler/place.h"
#include "packed.h"
#include "planned.h"
#include "unit/solver/checked_bound.h"

namespace shw::answers {
namespace {

using testing::Case;
using testing::kCases;

class Explain : public ::testing::TestWithParam<Case> {};

// A node that can be pinned by its name, and one of the layouts that its result can have.
struct Pair {
  std::string node, layout;
};
Pair random_pair(const PreparedModel& model, std::mt19937& random) {
  for (;;) {
    const NodeId n{static_cast<uint32_t>(random() % model.graph().num_nodes())};
    if (model.graph().is_tuple(n)) continue;
    Layout layout = model.strategies().result_layout(
        n, 0, static_cast<uint32_t>(random() % model.strategies().of(n).count));
    layout.order = Layout{}.order;
    return {model.graph().name(n), to_string(layout, model.mesh().rank())};
  }
}

const Alternative& find(const Explanation& e, const std::string& layout) {
  const auto it = std::find_if(e.alternatives.begin(), e.alternatives.end(),
                               [&](const Alternative& a) { return a.layout == layout; });
  EXPECT_NE(it, e.alternatives.end());
  return *it;
}

// The plan made from scratch with the pin among the options, as `plan --pin` makes it.
Result<Compiled> pinned_plan(const Case& c, const std::vector<uint8_t>& graph, const Pair& pair) {
  CompileOptions options = testing::options_of(c);
  options.pins.emplace_back(pair.node, pair.layout);
  Monitor monitor;
  return shw::testing::compile_packed(graph, options, monitor);
}

// The cost of the pinned plan if each use pays for its own changes of layout.
double alone(const PreparedModel& model, const Pair& pair) {
  CompileOptions options = model.options();
  options.pins.emplace_back(pair.node, pair.layout);
  Monitor monitor;
  const auto question = ConstrainedModel::create(model, options, monitor);
  EXPECT_TRUE(question.ok());
  const auto placed = question->solve(question->problem(), {}, monitor);
  EXPECT_TRUE(placed.ok());
  return placed->objective_us;
}

bool shares_anything(const ConstrainedModel& asked) {
  Monitor monitor;
  const auto placed = place(asked, {}, monitor);
  EXPECT_TRUE(placed.ok());
  return placed->shared != nullptr;
}

TEST_P(Explain, ForcedTotalsAreThoseOfPlansThatForceThem) {
  const auto model = testing::model_of(GetParam());
  const ConstrainedModel asked = testing::asked(*model);
  const std::vector<uint8_t> graph = testing::graph_of(GetParam());
  std::mt19937 random(20);
  uint32_t possible = 0, impossible = 0;
  while (possible < 20) {
    const Pair pair = random_pair(*model, random);
    SCOPED_TRACE(pair.node + " " + pair.layout);
    Monitor monitor;
    const auto got = explain(asked, {pair.node, pair.layout, 0}, {}, monitor);
    ASSERT_TRUE(got.ok()) << got.status().message();
    const Alternative& a = find(*got, pair.layout);
    ASSERT_TRUE(a.forced);
    const auto plan = pinned_plan(GetParam(), graph, pair);
    ASSERT_EQ(plan.ok(), a.forced->possible) << plan.status().message();
    if (!plan.ok()) {
      EXPECT_EQ(plan.status().code(), Code::kFailedPrecondition);
      ASSERT_LT(++impossible, 40u);
      continue;
    }
    ++possible;
    // The pinned plan may share other changes of layout than the original plan. At prices that
    // ignore sharing, both totals are equal.
    const double alone_us = alone(*model, pair);
    EXPECT_GE(a.forced->objective_us, plan->plan.summary.objective_us * (1 - 1e-9));
    EXPECT_LE(a.forced->objective_us, alone_us);
    if (!shares_anything(asked)) {
      EXPECT_EQ(a.forced->objective_us, alone_us);
    }
    EXPECT_TRUE(a.forced->proven);
    EXPECT_LE(a.floor_us, a.forced->objective_us);
    EXPECT_GE(a.floor_us, got->certified_us * (1 - 1e-9));
  }
}

TEST_P(Explain, FloorsAreBelowEveryForcedTotalAndTheSecondBestIsTheCheapest) {
  const auto model = testing::model_of(GetParam());
  const ConstrainedModel asked = testing::asked(*model);
  std::mt19937 random(7);
  for (int i = 0; i < 3; ++i) {
    const Pair pair = random_pair(*model, random);
    SCOPED_TRACE(pair.node);
    Monitor monitor;
    const auto all = explain(asked, {pair.node, "", UINT32_MAX}, {}, monitor);
    ASSERT_TRUE(all.ok()) << all.status().message();
    double second = HUGE_VAL;
    uint32_t chosen = 0;
    for (const Alternative& a : all->alternatives) {
      chosen += a.chosen;
      const std::string_view status = status_of(a, all->objective_us);
      EXPECT_EQ(status == "CHOSEN", a.chosen);
      EXPECT_EQ(status == "UNAVAILABLE", a.floor_us == HUGE_VAL || !a.forced->possible) << a.layout;
      if (status == "TIE") {
        EXPECT_NEAR(a.forced->objective_us, all->objective_us, 0.01) << a.layout;
      } else if (status == "CHOSEN CHEAPER") {
        EXPECT_GT(a.forced->objective_us, all->objective_us + 0.01) << a.layout;
      } else if (status == "TARGET CHEAPER") {
        EXPECT_LT(a.forced->objective_us, all->objective_us - 0.01) << a.layout;
      }
      if (a.floor_us == HUGE_VAL) continue;
      ASSERT_TRUE(a.forced);
      if (!a.forced->possible) continue;
      EXPECT_LE(a.floor_us, a.forced->objective_us) << a.layout;
      if (!a.chosen) second = std::min(second, a.forced->objective_us);
    }
    EXPECT_EQ(chosen, 1u);
    const auto few = explain(asked, {pair.node, "", 0}, {}, monitor);
    ASSERT_TRUE(few.ok());
    ASSERT_EQ(few->second_best.has_value(), second != HUGE_VAL);
    if (few->second_best) {
      EXPECT_EQ(few->alternatives[*few->second_best].forced->objective_us, second);
    }
  }
}

// Computes the dual bound again with a checker that uses only the definition of a certificate.
TEST_P(Explain, NoForcedTotalIsBelowTheCertificateWithTheNodeHeld) {
  const auto model = testing::model_of(GetParam());
  const ConstrainedModel asked = testing::asked(*model);
  Monitor monitor;
  const solver::PlacementProblem& problem = asked.problem();
  const auto plan = model->solve(problem, {}, monitor);
  ASSERT_TRUE(plan.ok());
  const auto certificate = solver::certify(problem, plan->prices, 512, monitor);
  ASSERT_TRUE(certificate.ok());
  std::mt19937 random(11);
  for (int i = 0; i < 3;) {
    const Pair pair = random_pair(*model, random);
    const NodeId n = *node_named(model->graph(), pair.node);
    if (model->graph().op(n) == OpKind::kInput) continue;  // a pin may remove it from the budget
    SCOPED_TRACE(pair.node + " " + pair.layout);
    const auto got = explain(asked, {pair.node, pair.layout, 0}, {}, monitor);
    ASSERT_TRUE(got.ok()) << got.status().message();
    const Alternative& a = find(*got, pair.layout);
    if (!a.forced->possible) continue;
    ++i;
    double held = HUGE_VAL;
    const Layout layout = *parse_layout(pair.layout, model->mesh().rank());
    for (uint32_t s = 0; s < model->strategies().of(n).count; ++s)
      if (model->strategies().result_layout(n, 0, s).same_placements(layout))
        held = std::min(held, solver::testing::checked_bound(problem, *certificate, {n.v, s}));
    EXPECT_LE(held, a.forced->objective_us * (1 + 1e-9));
    EXPECT_GE(a.floor_us, held * (1 - 1e-9));  // the tree is at least as good as no tree
  }
}

TEST_P(Explain, EdgesAddUpToWhatTheNodePays) {
  const auto model = testing::model_of(GetParam());
  const ConstrainedModel asked = testing::asked(*model);
  std::mt19937 random(3);
  for (int i = 0; i < 5; ++i) {
    Monitor monitor;
    const auto got = explain(asked, {random_pair(*model, random).node}, {}, monitor);
    ASSERT_TRUE(got.ok()) << got.status().message();
    double comm = 0, transition = 0;
    for (const EdgePrice& e : got->operands) comm += e.comm_us, transition += e.transition_us;
    EXPECT_NEAR(comm, got->cost.comm_us, 1e-9 * (1 + comm));
    EXPECT_EQ(transition, got->cost.transition_us);
    for (const EdgePrice& e : got->users) EXPECT_EQ(e.producer, got->node);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Explain, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return name_of(c.param); });

TEST(ExplainOneNode, IsFoundByItsNameAsAnInputOrOutput) {
  const auto model = testing::model_of(kCases[0]);
  const ConstrainedModel asked = testing::asked(*model);
  Monitor monitor;
  const auto by_name = explain(asked, {"param.w1.weight"}, {}, monitor);
  ASSERT_TRUE(by_name.ok()) << by_name.status().message();
  EXPECT_EQ(by_name->op, "input");
  const auto missing = explain(asked, {"w1.weigh"}, {}, monitor);
  EXPECT_EQ(missing.status().code(), Code::kNotFound);
  EXPECT_NE(missing.status().message().find("param.w1.weight"), std::string::npos);
}

TEST(ExplainOneNode, HoldsUnderALimitOfMemory) {
  CompileOptions options = testing::options_of(kCases[1]);
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  const std::vector<uint8_t> graph = testing::graph_of(kCases[1]);
  Monitor monitor;
  const auto free = shw::testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(free.ok());
  options.memory_limit_bytes = free->plan.summary.memory_peak_bytes * 8 / 10;
  const auto model = testing::model_of(options, graph);
  const ConstrainedModel asked = testing::asked(*model);
  std::mt19937 random(5);
  for (int possible = 0; possible < 3;) {
    const Pair pair = random_pair(*model, random);
    SCOPED_TRACE(pair.node + " " + pair.layout);
    const auto got = explain(asked, {pair.node, pair.layout, 0}, {}, monitor);
    ASSERT_TRUE(got.ok()) << got.status().message();
    const Alternative& a = find(*got, pair.layout);
    CompileOptions pinned = options;
    pinned.pins.emplace_back(pair.node, pair.layout);
    const auto plan = shw::testing::compile_packed(graph, pinned, monitor);
    ASSERT_EQ(plan.ok(), a.forced->possible) << plan.status().message();
    if (!plan.ok()) continue;
    ++possible;
    EXPECT_EQ(a.forced->objective_us, plan->plan.summary.objective_us);
    EXPECT_LE(a.floor_us, a.forced->objective_us);
  }
}

TEST(ExplainOneNode, RefusesLayoutsThatNoStrategyHas) {
  const auto model = testing::model_of(kCases[0]);
  const ConstrainedModel asked = testing::asked(*model);
  Monitor monitor;
  for (const char* bad : {"S(5)", "S(0)R", "nonsense"})
    EXPECT_EQ(explain(asked, {"param.w1.weight", bad}, {}, monitor).status().code(),
              Code::kInvalidArgument)
        << bad;
}

}  // namespace
}  // namespace shw::answers
