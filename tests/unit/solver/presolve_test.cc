#include "solver/presolve.h"

#include <gtest/gtest.h>

#include "unit/solver/brute_force.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::random_problem;

Result<Presolved> run(const PlacementProblem& problem, const PresolveOptions& options = {},
                      std::span<const uint8_t> keep = {}) {
  Monitor monitor;
  Watch watch(monitor, Deadline());
  return presolve(problem, keep, options, watch);
}

PlacementProblem with_labels(std::initializer_list<std::vector<double>> unaries) {
  PlacementProblem problem;
  for (const auto& u : unaries) problem.add_variable(u);
  return problem;
}

// The optimum of the reduced problem, expanded, must be the optimum of the original problem.
void expect_round_trip(const PlacementProblem& problem, const PresolveOptions& options) {
  const auto want = solve_brute_force(problem);
  const auto small = run(problem, options);
  if (!want.ok()) {  // presolve may miss the contradiction
    if (small.ok()) {
      EXPECT_FALSE(solve_brute_force(small->problem).ok());
    }
    return;
  }
  ASSERT_TRUE(small.ok()) << small.status().message();
  ASSERT_TRUE(small->problem.validate().ok());
  const auto best = solve_brute_force(small->problem);
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(small->constant + best->cost, want->cost);
  EXPECT_EQ(evaluate(problem, small->undo.expand(best->choice)), want->cost);
}

TEST(Presolve, KeepsTheOptimumWithEachSetOfReductions) {
  for (const bool dominance : {false, true})
    for (uint32_t max_degree = 0; max_degree <= 2; ++max_degree)
      for (uint32_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(::testing::Message() << "dominance " << dominance << ", degree " << max_degree
                                          << ", seed " << seed);
        expect_round_trip(random_problem(seed, {.edges_per_variable = 1 + seed % 3 * 0.75}),
                          {.dominance = dominance, .max_degree = max_degree});
      }
}

TEST(Presolve, TakesEveryLabellingBackAtItsCost) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem =
        random_problem(seed, {.min_variables = 5, .edges_per_variable = 2.2});
    const auto small = run(problem);
    if (!small.ok()) continue;
    std::vector<uint32_t> choice(small->problem.num_variables(), 0);
    const double cost = evaluate(small->problem, choice);
    if (cost == kForbidden) continue;
    // The removed variables take their best labels, so the cost is exactly the promised one.
    EXPECT_EQ(evaluate(problem, small->undo.expand(choice)), small->constant + cost);
  }
}

TEST(Presolve, SolvesTreesAndCyclesOutright) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    PlacementProblem problem;
    const uint32_t n = 7;
    for (uint32_t v = 0; v < n; ++v)
      problem.add_variable(std::vector<double>{double(random() % 9), double(random() % 9)});
    for (uint32_t v = 0; v < n; ++v)
      problem.add_edge(
          v, (v + 1) % n,
          problem.add_matrix(2, 2,
                             std::vector<double>{double(random() % 9), double(random() % 9),
                                                 double(random() % 9), double(random() % 9)}));
    const auto small = run(problem);
    ASSERT_TRUE(small.ok());
    EXPECT_EQ(small->problem.num_variables(), 0u);
    EXPECT_EQ(small->constant, solve_brute_force(problem)->cost);
  }
}

TEST(Presolve, PropagatesForbiddenPairsAlongAChain) {
  PlacementProblem problem = with_labels({{0, kForbidden}, {5, 0}, {7, 0}});
  const uint32_t equal =
      problem.add_matrix(2, 2, std::vector<double>{0, kForbidden, kForbidden, 0});
  problem.add_edge(0, 1, equal);
  problem.add_edge(1, 2, equal);
  const auto small = run(problem, {.dominance = false, .max_degree = 0});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->problem.num_variables(), 0u) << "variables with one label are folded away";
  EXPECT_EQ(small->constant, 12);
}

TEST(Presolve, AddsUpParallelEdgesInBothDirections) {
  PlacementProblem problem = with_labels({{0, 0}, {0, 0, 0}});
  problem.add_edge(0, 1, problem.add_matrix(2, 3, std::vector<double>{1, 2, 3, 4, 5, 6}));
  problem.add_edge(1, 0, problem.add_matrix(3, 2, std::vector<double>{10, 20, 30, 40, 50, 60}));
  problem.add_edge(
      0, 1, problem.add_matrix(3, 2, std::vector<double>{100, 200, 300, 400, 500, 600}), true);
  const auto small = run(problem, {.dominance = false, .max_degree = 0});
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small->problem.edges().size(), 1u);
  const auto& edge = small->problem.edges()[0];
  for (uint32_t x = 0; x < 2; ++x)
    for (uint32_t y = 0; y < 3; ++y)
      EXPECT_EQ(small->problem.edge_cost(edge, x, y),
                1 + 3 * x + y + 10 * (2 * y + x + 1) + 100 * (2 * y + x + 1));
}

TEST(Presolve, DropsDominatedLabelsAndAllButOneOfEqualOnes) {
  // Label 1 is label 0 plus a cost. Label 2 equals label 0. Label 3 is expensive, but it is the
  // only one that suits the neighbour's label 1.
  PlacementProblem problem = with_labels({{1, 3, 1, 9}, {0, 0, 0}});
  problem.add_edge(0, 1,
                   problem.add_matrix(
                       4, 3, std::vector<double>{0, 50, 7, 0, 50, 8, 0, 50, 7, 5, 0, kForbidden}));
  const auto small = run(problem, {.dominance = true, .max_degree = 0});
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small->problem.num_variables(), 2u);
  EXPECT_EQ(small->undo.expand(std::vector<uint32_t>{0, 0}), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(small->undo.expand(std::vector<uint32_t>{1, 1}), (std::vector<uint32_t>{3, 1}));
  EXPECT_EQ(small->problem.num_labels(0), 2u);
  EXPECT_EQ(small->problem.num_labels(1), 2u);
}

TEST(Presolve, DropsTheLabelsItIsTold) {
  const PlacementProblem problem = with_labels({{1, 2, 3}, {4, 5}});
  const std::vector<uint8_t> keep{0, 0, 1, 1, 1};
  const auto small = run(problem, {}, keep);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->constant, 7);
  EXPECT_EQ(small->undo.expand({}), (std::vector<uint32_t>{2, 0}));
  const auto none = run(problem, {}, std::vector<uint8_t>{1, 1, 1, 0, 0});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace shw::solver
