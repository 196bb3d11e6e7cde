// Changes of layout that several uses of a value share are paid for once, both in the plan and in
// its program. The planner may choose a different placement because of this.
#include "compiler/share_changes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "answers/explain.h"
#include "answers/explain_plan.h"
#include "compiler/place.h"
#include "compiler/programs.h"
#include "compiler/within_limit.h"
#include "lowering/lower.h"
#include "placement/share_versions.h"
#include "plan/report.h"
#include "test_graphs.h"

namespace shw {
namespace {

struct Shared {
  const char *graph, *mesh;
};

class ShareChanges : public ::testing::TestWithParam<Shared> {
 protected:
  void SetUp() override {
    options_.mesh = GetParam().mesh;
    options_.keep_graph = false;
    auto model = PreparedModel::create(testing::test_graph(GetParam().graph), options_, monitor_);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(*model);
    auto question = ConstrainedModel::create(*model_, options_, monitor_);
    ASSERT_TRUE(question.ok());
    question_.emplace(std::move(*question));
    auto placed = place(*question_, options_.solver, monitor_);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    placed_ = std::move(*placed);
  }
  static double us(const NodeCost& c) { return c.compute_us + c.comm_us; }
  double program_us(const Placed& placed) {
    std::vector<double> compute_us;
    for (const NodeCost& c : placed.costs) compute_us.push_back(c.own_us());
    const auto program =
        lower(model_->graph(), *placed.assignment, model_->redistributor(),
              {.compute_us = compute_us, .choice = placed.choice, .shared = placed.shared.get()},
              monitor_);
    EXPECT_TRUE(program.ok()) << program.status().message();
    return program_cost(*program).us;
  }

  CompileOptions options_;
  Monitor monitor_;
  std::unique_ptr<const PreparedModel> model_;
  std::optional<ConstrainedModel> question_;
  Placed placed_;
};

TEST_P(ShareChanges, PricesAreThoseOfTheProgram) {
  ASSERT_NE(placed_.shared, nullptr);
  EXPECT_TRUE(placed_.proven);
  EXPECT_NEAR(us(placed_.total), program_us(placed_), 1e-9 * us(placed_.total));
  // If each use paid for itself, the total would be higher.
  const auto alone = model_->price(placed_.choice);
  ASSERT_TRUE(alone.ok());
  EXPECT_GT(us(alone->total), us(placed_.total) * (1 + 1e-6));
}

// The last round lowers the placement to see that it shares nothing else. The plan is made from
// that program.
TEST_P(ShareChanges, KeepsTheProgramOfThePlacement) {
  ASSERT_NE(placed_.lowered, nullptr);
  const auto program = lowered_program(*model_, placed_, Copies::kShared, monitor_);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(to_text(*placed_.lowered), to_text(*program));
  Placed other = placed_;
  ASSERT_TRUE(complete(*question_, 0, other, monitor_).ok());
  EXPECT_EQ(other.lowered, nullptr) << "of a placement whose orders were decided again";
}

TEST_P(ShareChanges, CostNoMoreThanThePlacementAtPricesOfPairs) {
  const auto first = solve_within(*question_, 0, options_.solver, monitor_);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->shared, nullptr);
  EXPECT_LT(program_us(*first), us(first->total) * (1 - 1e-6));
  EXPECT_LE(us(placed_.total), program_us(*first) * (1 + 1e-9));
}

TEST_P(ShareChanges, VersionsHaveLayoutsOfTheirChoicePoints) {
  const SharedVersions& shared = *placed_.shared;
  const auto labels = labels_of(model_->graph(), model_->strategies(), shared);
  ASSERT_TRUE(labels.has_value());
  ASSERT_EQ(labels->size(), shared.versions.size());
  const auto again = with_labels(model_->graph(), model_->strategies(), shared, *labels);
  for (size_t i = 0; i < labels->size(); ++i)
    EXPECT_EQ(again.versions[i].layout, shared.versions[i].layout);
}

TEST_P(ShareChanges, ALimitThatDoesNotBindChangesNothing) {
  auto placed = place(*question_, 1e15, options_.solver, monitor_);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_NEAR(placed->objective_us, placed_.objective_us, 1e-9 * placed_.objective_us);
}

TEST_P(ShareChanges, ExplanationsAreOfTheSamePlan) {
  const auto plan = answers::explain_plan(*question_, options_.solver, monitor_);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->objective_us, placed_.objective_us);
  EXPECT_LE(plan->communication.from, 1);
  EXPECT_GE(plan->communication.to, 1);
  double comm_us = 0;
  for (const auto& group : plan->groups) comm_us += group.comm_us;
  EXPECT_NEAR(comm_us, placed_.total.comm_us, 1e-9 * comm_us);

  const std::string node(model_->graph().name(placed_.shared->reads.front().edge.node));
  const auto explained = answers::explain(*question_, {.node = node}, options_.solver, monitor_);
  ASSERT_TRUE(explained.ok()) << explained.status().message();
  EXPECT_EQ(explained->objective_us, placed_.objective_us);
  EXPECT_LE(explained->certified_us, placed_.objective_us * (1 + 1e-9));
  for (const auto& a : explained->alternatives) {
    if (!a.forced || !a.forced->possible) continue;
    EXPECT_GE(a.forced->objective_us, placed_.objective_us * (1 - 1e-9)) << a.layout;
  }
}

// In these graphs the residual of a block is read in its own layout, although its choice point has
// another one. Two uses of the input of the first norm read the same slice.
INSTANTIATE_TEST_SUITE_P(Graphs, ShareChanges,
                         ::testing::Values(Shared{"block_1d8", "dp=8,tp=8"},
                                           Shared{"block_1d8", "a=2,b=2,c=2"},
                                           Shared{"llama_tiny_2x4", "x=8"}));

}  // namespace
}  // namespace shw
