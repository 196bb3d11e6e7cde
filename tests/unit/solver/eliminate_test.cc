#include "solver/eliminate.h"

#include <gtest/gtest.h>

#include <atomic>

#include "solver/decode.h"
#include "unit/solver/brute_force.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::random_problem;
constexpr uint64_t kNoLimit = kUnlimited;

std::optional<EliminationPlan> plan(const PlacementProblem& problem, uint64_t max_table_bytes,
                                    uint64_t max_cells) {
  Monitor monitor;
  Watch watch(monitor, Deadline());
  return *plan_elimination(problem, max_table_bytes, max_cells, watch);
}

TEST(Eliminate, FindsTheOptimum) {
  int feasible = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem =
        random_problem(seed, {.edges_per_variable = 2.5, .forbidden = 0.05});
    const auto found = plan(problem, kNoLimit, kNoLimit);
    ASSERT_TRUE(found.has_value());
    Monitor monitor;
    Watch watch(monitor, Deadline());
    const auto choice = eliminate(problem, *found, kNoLimit, watch);
    ASSERT_TRUE(choice.ok());
    const auto best = solve_brute_force(problem);
    EXPECT_EQ(evaluate(problem, choice->choice), best.ok() ? best->cost : kForbidden);
    feasible += best.ok();
  }
  EXPECT_GT(feasible, 250);
}

TEST(Eliminate, KeepsToItsBudgets) {
  PlacementProblem clique;
  for (int v = 0; v < 6; ++v) clique.add_variable(std::vector<double>(4));
  const uint32_t m = clique.add_matrix(4, 4, std::vector<double>(16));
  for (uint32_t a = 0; a < 6; ++a)
    for (uint32_t b = a + 1; b < 6; ++b) clique.add_edge(a, b, m);
  const uint64_t cells = 1024 + 256 + 64 + 16 + 4 + 1;
  const auto found = plan(clique, kNoLimit, kNoLimit);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->table_bytes, cells * sizeof(double));
  EXPECT_TRUE(plan(clique, cells * sizeof(double), kNoLimit).has_value());
  EXPECT_FALSE(plan(clique, cells * sizeof(double) - 1, kNoLimit).has_value());
  EXPECT_FALSE(plan(clique, kNoLimit, found->cells - 1).has_value());
}

// Tables are limited to a small size, so variables are copied and the minimum becomes a bound.
TEST(Eliminate, BoundsTheOptimumWithCopies) {
  int feasible = 0, disputed = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem =
        random_problem(seed, {.min_variables = 6, .edges_per_variable = 3, .forbidden = 0.05});
    const auto best = solve_brute_force(problem);
    if (!best.ok()) continue;
    ++feasible;
    const auto order = plan(problem, kNoLimit, kNoLimit);
    ASSERT_TRUE(order.has_value());
    double last = -kForbidden;
    for (const uint64_t max_cells : {uint64_t{4}, kNoLimit}) {
      Monitor monitor;
      Watch watch(monitor, Deadline());
      const auto found = eliminate(problem, *order, max_cells, watch);
      ASSERT_TRUE(found.ok());
      const double cost = evaluate(problem, found->choice);
      EXPECT_LE(found->bound, best->cost);
      EXPECT_LE(last, found->bound + 1e-9);
      EXPECT_LE(best->cost, cost);
      if (found->disputed) {
        EXPECT_LT(found->bound, cost);
        EXPECT_NE(max_cells, kNoLimit);
        ++disputed;
      } else {
        EXPECT_EQ(best->cost, cost);
        EXPECT_NEAR(found->bound, cost, 1e-9 * cost);
      }
      last = found->bound;
    }
  }
  EXPECT_GT(feasible, 150);
  EXPECT_GT(disputed, 20);
}

TEST(Eliminate, StopsWhenCancelled) {
  const PlacementProblem problem = random_problem(
      1, {.min_variables = 12, .max_variables = 12, .max_labels = 8, .edges_per_variable = 5});
  const auto found = plan(problem, kNoLimit, kNoLimit);
  ASSERT_TRUE(found.has_value());
  const std::atomic<bool> cancel{true};
  Monitor monitor;
  monitor.cancel = &cancel;
  Watch watch(monitor, Deadline());
  const auto choice = eliminate(problem, *found, kNoLimit, watch);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.status().code(), Code::kCancelled);
}

TEST(DecodeWithPropagation, FindsLabellingsAmongForbiddenPairs) {
  int found = 0, feasible = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, {.min_variables = 5, .forbidden = 0.2});
    Monitor monitor;
    Watch watch(monitor, Deadline());
    const bool possible = solve_brute_force(problem).ok();
    feasible += possible;
    std::vector<std::vector<uint32_t>> labels(problem.num_variables());
    for (uint32_t v = 0; v < labels.size(); ++v)
      for (uint32_t x = 0; x < problem.num_labels(v); ++x)
        if (problem.unary(v)[x] != kForbidden) labels[v].push_back(x);
    Trws trws(problem, std::move(labels), watch);
    const auto consistent = trws.drop_unsupported();
    ASSERT_TRUE(consistent.ok());
    if (!*consistent) continue;
    const auto choice = decode_with_propagation(problem, trws);
    ASSERT_TRUE(choice.ok());
    if (choice->empty()) continue;
    EXPECT_TRUE(possible);
    EXPECT_NE(evaluate(problem, *choice), kForbidden);
    ++found;
  }
  EXPECT_GT(found, 9 * feasible / 10);
}

TEST(ImproveByCoordinates, NeverMakesItWorse) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed);
    std::vector<uint32_t> choice(problem.num_variables(), 0);
    const double before = evaluate(problem, choice);
    improve_by_coordinates(problem, choice);
    EXPECT_LE(evaluate(problem, choice), before);
  }
}

}  // namespace
}  // namespace shw::solver
