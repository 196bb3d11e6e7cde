#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "solver/lp_solve_library.h"
#include "solver/problem.h"
#include "unit/solver/brute_force.h"
#include "unit/solver/cancelling.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::expect_stops_soon;
using testing::random_problem;
using testing::RandomShape;

Result<Solution> solve_quietly(const PlacementProblem& problem, const SolveOptions& options = {}) {
  Monitor monitor;
  return solve(problem, options, monitor);
}

// Compares with an exhaustive search. Returns whether the problem was feasible.
bool expect_equal_to_brute_force(const PlacementProblem& problem,
                                 const SolveOptions& options = {}) {
  const auto want = solve_brute_force(problem);
  const auto got = solve_quietly(problem, options);
  if (!want.ok()) {
    EXPECT_FALSE(got.ok());
    if (!got.ok()) {
      EXPECT_EQ(got.status().code(), Code::kFailedPrecondition) << got.status().message();
      EXPECT_NE(got.status().message().find("variable"), std::string::npos)
          << got.status().message();
    }
    return false;
  }
  EXPECT_TRUE(got.ok()) << got.status().message();
  if (!got.ok()) return true;
  EXPECT_EQ(got->cost, want->cost);
  EXPECT_EQ(got->cost, evaluate(problem, got->choice));
  EXPECT_TRUE(got->proven);
  EXPECT_LE(got->bound, want->cost);
  return true;
}

TEST(Solve, MatchesBruteForceOnSparseProblems) {
  int feasible = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    feasible += expect_equal_to_brute_force(random_problem(seed));
  }
  EXPECT_GT(feasible, 1000);
  EXPECT_LT(feasible, 1950);
}

TEST(Solve, MatchesBruteForceOnDenseProblems) {
  const RandomShape dense{.min_variables = 5,
                          .max_variables = 8,
                          .max_labels = 4,
                          .edges_per_variable = 3.5,
                          .forbidden = 0.04};
  int feasible = 0;
  for (uint32_t seed = 10000; seed < 10600; ++seed) {
    SCOPED_TRACE(seed);
    feasible += expect_equal_to_brute_force(random_problem(seed, dense));
  }
  EXPECT_GT(feasible, 300);
}

// Frustrated problems, for which the relaxation is loose. Elimination is disabled, so only sweeps
// and branching remain.
TEST(Solve, MatchesBruteForceByBranchingAlone) {
  const RandomShape dense{.min_variables = 7,
                          .max_variables = 9,
                          .max_labels = 3,
                          .edges_per_variable = 4,
                          .forbidden = 0.02};
  SolveOptions options;
  options.table_budget_bytes = 0;
  uint32_t branched = 0;
  for (uint32_t seed = 20000; seed < 20300; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, dense);
    expect_equal_to_brute_force(problem, options);
    const auto got = solve_quietly(problem, options);
    if (got.ok()) branched += got->stats.branch_nodes > 0;
  }
  EXPECT_GT(branched, 5u);
}

TEST(Solve, FindsTheSameOptimumByEliminationAndByBranching) {
  const RandomShape frustrated{.min_variables = 12,
                               .max_variables = 14,
                               .max_labels = 5,
                               .edges_per_variable = 5,
                               .forbidden = 0.01};
  SolveOptions branching;
  branching.table_budget_bytes = 0;
  uint32_t branched = 0;
  for (uint32_t seed = 25000; seed < 25100; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, frustrated);
    const auto by_tables = solve_quietly(problem);
    const auto by_branches = solve_quietly(problem, branching);
    ASSERT_EQ(by_tables.ok(), by_branches.ok());
    if (!by_tables.ok()) continue;
    EXPECT_EQ(by_tables->stats.branch_nodes, 0u);
    EXPECT_TRUE(by_tables->proven && by_branches->proven);
    EXPECT_EQ(by_tables->cost, by_branches->cost);
    branched += by_branches->stats.branch_nodes > 0;
  }
  EXPECT_GT(branched, 20u);
}

TEST(Solve, MatchesBruteForceByLpSolveAlone) {
  const RandomShape dense{.min_variables = 6,
                          .max_variables = 8,
                          .max_labels = 3,
                          .edges_per_variable = 3.5,
                          .forbidden = 0.02};
  SolveOptions options;
  options.table_budget_bytes = 0;
  options.max_branch_nodes = 0;
  options.max_sweeps = 3;
  for (uint32_t seed = 30000; seed < 30100; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal_to_brute_force(random_problem(seed, dense), options);
  }
}

TEST(Solve, KeepsItsBestAnswerAndItsBoundWithoutLpSolve) {
  const RandomShape dense{.min_variables = 6,
                          .max_variables = 8,
                          .max_labels = 3,
                          .edges_per_variable = 3.5,
                          .forbidden = 0.02};
  SolveOptions options;
  options.table_budget_bytes = 0;
  options.max_branch_nodes = 0;
  options.max_sweeps = 3;
  options.use_lp_solve = false;
  int missed = 0;
  for (uint32_t seed = 30000; seed < 30100; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, dense);
    const auto want = solve_brute_force(problem);
    const auto got = solve_quietly(problem, options);
    if (!got.ok()) continue;
    ASSERT_TRUE(want.ok());
    EXPECT_EQ(got->cost, evaluate(problem, got->choice));
    EXPECT_LE(got->bound, want->cost + 1e-9 * std::abs(want->cost));
    EXPECT_GE(got->cost, want->cost);
    if (got->stats.lp_solve_missing) ++missed;
    EXPECT_TRUE(got->proven || got->stats.lp_solve_missing);
  }
  EXPECT_GT(missed, 0);
}

TEST(LpSolveLibrary, SaysWhatItTriedWhereThereIsNone) {
  const char* const files[] = {"libnone55.so", "/nowhere/liblpsolve55.so"};
  const auto lp = LpSolveLibrary::open(files);
  ASSERT_FALSE(lp.ok());
  EXPECT_EQ(lp.status().code(), Code::kNotFound);
  for (const char* file : files)
    EXPECT_NE(std::string(lp.status().message()).find(file), std::string::npos);
  const char* const other[] = {"libc.so.6"};
  EXPECT_EQ(LpSolveLibrary::open(other).status().code(), Code::kFailedPrecondition);
}

TEST(Solve, MatchesLpSolveOnMediumProblems) {
  const RandomShape medium{.min_variables = 12,
                           .max_variables = 20,
                           .max_labels = 5,
                           .edges_per_variable = 1.6,
                           .forbidden = 0.05};
  int feasible = 0;
  for (uint32_t seed = 40000; seed < 40200; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, medium);
    const auto want = solve_with_lp_solve(problem, 0);
    const auto got = solve_quietly(problem);
    ASSERT_EQ(got.ok(), want.ok()) << got.status().message() << want.status().message();
    if (!want.ok()) {
      EXPECT_EQ(want.status().code(), Code::kFailedPrecondition);
      EXPECT_EQ(got.status().code(), Code::kFailedPrecondition);
      continue;
    }
    ++feasible;
    EXPECT_TRUE(want->proven);
    EXPECT_TRUE(got->proven);
    EXPECT_EQ(got->cost, want->cost);
  }
  EXPECT_GT(feasible, 100);
}

TEST(Solve, GivesTheSameChoiceEveryTime) {
  const RandomShape shape{.min_variables = 30,
                          .max_variables = 40,
                          .max_labels = 6,
                          .edges_per_variable = 1.8,
                          .forbidden = 0,
                          .max_cost = 5};
  for (uint32_t seed = 50000; seed < 50020; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = random_problem(seed, shape);
    const auto first = solve_quietly(problem);
    const auto second = solve_quietly(problem);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->choice, second->choice);
    EXPECT_EQ(first->bound, second->bound);
  }
}

TEST(Solve, TakesAProblemWithoutVariables) {
  const auto got = solve_quietly(PlacementProblem());
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->cost, 0);
  EXPECT_TRUE(got->proven);
}

TEST(Solve, TakesNegativeCosts) {
  PlacementProblem problem;
  problem.add_variable(std::vector<double>{-5, 1});
  problem.add_variable(std::vector<double>{0, -2});
  problem.add_edge(0, 1, problem.add_matrix(2, 2, std::vector<double>{3, 8, -9, 0}));
  const auto got = solve_quietly(problem);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->choice, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(got->cost, -8);
}

TEST(Solve, NamesTheVariablesOfAContradiction) {
  PlacementProblem
      problem;  // 3 and 5 are pinned to different labels, and a chain of equalities joins them
  const std::vector<double> free{0, 0}, first{0, kForbidden}, second{kForbidden, 0};
  for (int v = 0; v < 8; ++v) problem.add_variable(v == 3 ? first : v == 5 ? second : free);
  const uint32_t equal =
      problem.add_matrix(2, 2, std::vector<double>{0, kForbidden, kForbidden, 0});
  const uint32_t any = problem.add_matrix(2, 2, std::vector<double>{0, 1, 1, 0});
  problem.add_edge(3, 4, equal);
  problem.add_edge(4, 5, equal);
  for (uint32_t v = 0; v < 3; ++v) problem.add_edge(v, v + 1, any);
  problem.add_edge(6, 7, any);
  const auto got = solve_quietly(problem);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), Code::kFailedPrecondition);
  for (const char* name : {"3", "4", "5"})
    EXPECT_NE(got.status().message().find(name), std::string::npos);
  for (const char* name : {"0", "1", "2", "6", "7"})
    EXPECT_EQ(got.status().message().find(name), std::string::npos) << got.status().message();
}

// Five variables with four labels each must all differ. Every pair of labels has a partner, so
// propagation does not find the contradiction.
TEST(Solve, ProvesInfeasibleWhatIsArcConsistent) {
  PlacementProblem problem;
  for (int v = 0; v < 5; ++v) problem.add_variable(std::vector<double>{0, 0, 0, 0});
  std::vector<double> differ(16, 0);
  for (size_t i = 0; i < 4; ++i) differ[5 * i] = kForbidden;
  const uint32_t m = problem.add_matrix(4, 4, differ);
  for (uint32_t a = 0; a < 5; ++a)
    for (uint32_t b = a + 1; b < 5; ++b) problem.add_edge(a, b, m);
  for (const uint64_t budget : {uint64_t{64} << 20, uint64_t{0}}) {
    SolveOptions options;
    options.table_budget_bytes = budget;
    const auto got = solve_quietly(problem, options);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), Code::kFailedPrecondition);
    EXPECT_NE(got.status().message().find("variables 0, 1, 2, 3, 4"), std::string::npos)
        << got.status().message();
  }
}

PlacementProblem hard_problem() {  // a frustrated grid-like problem that takes seconds
  return random_problem(7, {.min_variables = 150,
                            .max_variables = 150,
                            .max_labels = 12,
                            .edges_per_variable = 4,
                            .forbidden = 0.01,
                            .max_cost = 1000});
}

TEST(Solve, StopsAtEveryProgressCallThatSaysSo) {
  const PlacementProblem problem = random_problem(3, {.min_variables = 20,
                                                      .max_variables = 20,
                                                      .max_labels = 6,
                                                      .edges_per_variable = 4,
                                                      .forbidden = 0});
  SolveOptions options;
  options.table_budget_bytes = 0;  // so that all phases except elimination run
  int calls = 0;
  {
    Monitor monitor;
    monitor.on_progress = [&](const Progress& p) {
      EXPECT_EQ(p.phase, "solve");
      EXPECT_LE(p.lower_bound_us, p.best_cost_us);
      ++calls;
      return false;
    };
    ASSERT_TRUE(solve(problem, options, monitor).ok());
  }
  ASSERT_GT(calls, 20);
  for (int stop = 1; stop <= calls; ++stop) {
    SCOPED_TRACE(stop);
    int seen = 0;
    Monitor monitor;
    monitor.on_progress = [&](const Progress&) { return ++seen == stop; };
    const auto got = solve(problem, options, monitor);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), Code::kCancelled);
    EXPECT_EQ(seen, stop) << "progress was reported after it asked to stop";
  }
}

TEST(Solve, ReportsBoundsThatOnlyRise) {
  Monitor monitor;
  double bound = -kForbidden, cost = kForbidden;
  monitor.on_progress = [&](const Progress& p) {
    EXPECT_GE(p.lower_bound_us, bound);
    EXPECT_LE(p.best_cost_us, cost);
    bound = p.lower_bound_us;
    cost = p.best_cost_us;
    return false;
  };
  ASSERT_TRUE(solve(random_problem(5, {.min_variables = 40,
                                       .max_variables = 40,
                                       .max_labels = 5,
                                       .edges_per_variable = 2.2,
                                       .forbidden = 0}),
                    {}, monitor)
                  .ok());
}

TEST(Solve, StopsSoonAfterTheFlagIsRaised) {
  const PlacementProblem problem = hard_problem();
  expect_stops_soon(problem, {1, 20, 100, 300});
}

TEST(Solve, GivesTheIncumbentAtTheTimeLimit) {
  const PlacementProblem problem = hard_problem();
  SolveOptions options;
  options.deadline = Deadline::in(0.3);
  const auto got = solve_quietly(problem, options);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_FALSE(got->proven);
  EXPECT_LT(got->bound, got->cost);
  EXPECT_EQ(got->cost, evaluate(problem, got->choice));
}

TEST(Solve, RefusesWhatIsNotAProblem) {
  PlacementProblem no_labels;
  no_labels.add_variable({});
  PlacementProblem nan;
  nan.add_variable(std::vector<double>{0, std::nan("")});
  PlacementProblem shapes;
  shapes.add_variable(std::vector<double>{0, 0});
  shapes.add_variable(std::vector<double>{0, 0, 0});
  shapes.add_edge(0, 1, shapes.add_matrix(3, 2, std::vector<double>(6)));
  PlacementProblem nowhere;
  nowhere.add_variable(std::vector<double>{0, 0});
  nowhere.add_edge(0, 1, nowhere.add_matrix(2, 2, std::vector<double>(4)));
  PlacementProblem minus;
  minus.add_variable(std::vector<double>{0, 0});
  minus.add_variable(std::vector<double>{0, 0});
  minus.add_edge(0, 1, minus.add_matrix(2, 2, std::vector<double>{0, 0, 0, -kForbidden}));
  PlacementProblem short_matrix;
  short_matrix.add_matrix(2, 2, std::vector<double>(3));
  PlacementProblem short_unary;
  short_unary.add_variable(std::vector<double>{0, 0});
  short_unary.add_unary(0, std::vector<double>{1});
  PlacementProblem self;
  self.add_variable(std::vector<double>{0, 0});
  self.add_edge(0, 0, self.add_matrix(3, 3, std::vector<double>(9)));
  for (const PlacementProblem* p :
       {&no_labels, &nan, &shapes, &nowhere, &minus, &short_matrix, &short_unary, &self}) {
    const auto got = solve_quietly(*p);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), Code::kInvalidArgument) << got.status().message();
  }
}

TEST(Evaluate, RefusesWhatIsNotALabelling) {
  PlacementProblem p;
  p.add_variable(std::vector<double>{1, kForbidden});
  p.add_variable(std::vector<double>{2, 4});
  p.add_edge(0, 1, p.add_matrix(2, 2, std::vector<double>{kForbidden, 8, 0, 0}));
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{0, 1}), 13);
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{0, 0}), kForbidden);
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{1, 0}), kForbidden);
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{0, 2}), kForbidden);
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{0}), kForbidden);
}

TEST(PlacementProblem, ScalesEdgesOfItsOwn) {
  PlacementProblem problem;
  for (int v = 0; v < 3; ++v) problem.add_variable(std::vector<double>{1, 2});
  const uint32_t m = problem.add_matrix(2, 2, std::vector<double>{0, 8, kForbidden, 4});
  for (uint32_t v : {0u, 1u}) problem.add_edge(v, v + 1, m);
  const PlacementProblem scaled = problem.with_scaled_edges(std::vector<double>{0.25, 1});
  EXPECT_EQ(evaluate(problem, std::vector<uint32_t>{0, 1, 1}), 5 + 8 + 4);
  EXPECT_EQ(evaluate(scaled, std::vector<uint32_t>{0, 1, 1}), 5 + 2 + 4);
  EXPECT_EQ(evaluate(scaled, std::vector<uint32_t>{0, 0, 1}), 4 + 0 + 8);
  const PlacementProblem free = problem.with_scaled_edges(std::vector<double>{0});
  EXPECT_EQ(evaluate(free, std::vector<uint32_t>{1, 0, 0}), kForbidden);
  EXPECT_EQ(evaluate(free, std::vector<uint32_t>{0, 1, 1}), 5 + 0 + 4);
}

TEST(PlacementProblem, FoldsAnEdgeToItself) {
  PlacementProblem p;
  p.add_variable(std::vector<double>{1, 2});
  p.add_edge(0, 0, p.add_matrix(2, 2, std::vector<double>{10, 99, 99, 20}));
  EXPECT_TRUE(p.edges().empty());
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{1}), 22);
}

TEST(PlacementProblem, KeepsEqualMatricesOnce) {
  PlacementProblem p;
  const std::vector<double> m{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(p.add_matrix(2, 3, m), p.add_matrix(2, 3, m));
  EXPECT_NE(p.add_matrix(2, 3, m), p.add_matrix(3, 2, m));
  EXPECT_EQ(p.matrices().size(), 2u);
}

}  // namespace
}  // namespace shw::solver
