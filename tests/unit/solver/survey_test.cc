// Checks the survey of wide problems on small ones, against every labelling.
#include "solver/survey.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_problems.h"
#include "unit/solver/brute_force.h"

namespace shw::solver {
namespace {

using testing::cheapest_with;
using testing::random_problem;

TEST(Survey, BoundsEveryLabelling) {
  int feasible = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, {.max_variables = 6});
    Monitor monitor;
    Watch watch(monitor, Deadline());
    const auto found = survey(problem, watch);
    ASSERT_TRUE(found.ok());
    const auto best = solve_brute_force(problem);
    if (!best.ok()) continue;
    ++feasible;
    EXPECT_LE(found->bound, best->cost);
    if (!found->choice.empty()) {
      EXPECT_GE(evaluate(problem, found->choice), best->cost);
    }
    for (uint32_t v = 0; v < problem.num_variables(); ++v)
      for (uint32_t i = 0; i < problem.num_labels(v); ++i)
        EXPECT_LE(found->bound + found->marginals[problem.first_label(v) + i],
                  cheapest_with(problem, v, i) + 1e-9)
            << "label " << i << " of variable " << v;
  }
  EXPECT_GT(feasible, 100);
}

// Messages of a part are also valid for the whole problem, so bounds hold whatever the part is.
TEST(Survey, BoundsEveryLabellingBehindSweepsOverAPart) {
  int asked = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem =
        random_problem(seed, {.max_variables = 6, .edges_per_variable = 2});
    const auto best = solve_brute_force(problem);
    if (!best.ok()) continue;
    Monitor monitor;
    Watch watch(monitor, Deadline());
    const auto cost_below = [&](const RestrictedProblem& part) -> Result<double> {
      EXPECT_TRUE(part.problem.validate().ok());
      ++asked;
      return best->cost + 1e-6;
    };
    const LikelyLabels likely{1 + seed % 40, cost_below};
    const auto found = survey(problem, watch, &likely);
    ASSERT_TRUE(found.ok());
    EXPECT_LE(found->bound, best->cost + 1e-9);
    for (uint32_t v = 0; v < problem.num_variables(); ++v)
      for (uint32_t i = 0; i < problem.num_labels(v); ++i)
        EXPECT_LE(found->bound + found->marginals[problem.first_label(v) + i],
                  cheapest_with(problem, v, i) + 1e-9)
            << "label " << i << " of variable " << v;
  }
  EXPECT_GT(asked, 50);
}

TEST(Survey, LikelyPartKeepsCosts) {
  for (uint32_t seed = 500; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed);
    std::vector<double> marginals(problem.first_label(problem.num_variables()));
    for (size_t i = 0; i < marginals.size(); ++i) marginals[i] = static_cast<double>(i % 3);
    for (uint32_t v = 0; v < problem.num_variables(); ++v)
      marginals[problem.first_label(v)] = 0;  // as in a survey: one label of each variable costs 0
    const RestrictedProblem part = likely_part(problem, marginals, 8);
    ASSERT_TRUE(part.problem.validate().ok());
    const std::vector<uint32_t> first(problem.num_variables(), 0);
    std::vector<uint32_t> original;
    for (uint32_t v = 0; v < first.size(); ++v)
      original.push_back(part.label[part.problem.first_label(v)]);
    EXPECT_EQ(evaluate(part.problem, first), evaluate(problem, original));
  }
}

TEST(Survey, SolvesTakenForWideAgreeWithBruteForce) {
  int infeasible = 0;
  for (uint32_t seed = 1000; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, {.edges_per_variable = 2});
    const auto best = solve_brute_force(problem);
    Monitor monitor;
    double told = -kForbidden;  // the highest bound reported for the whole
    monitor.on_progress = [&](const Progress& p) {
      told = std::max(told, p.lower_bound_us);
      return false;
    };
    const auto got = solve(problem, {.wide_cells = 8}, monitor);
    ASSERT_EQ(got.ok(), best.ok());
    infeasible += !best.ok();
    if (!best.ok()) continue;
    EXPECT_LE(told, best->cost * (1 + 1e-9) + 1e-9);
    EXPECT_EQ(got->cost, best->cost);
    EXPECT_TRUE(got->proven);
  }
  EXPECT_GT(infeasible, 20);
}

}  // namespace
}  // namespace shw::solver
