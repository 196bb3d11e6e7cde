// Problems with budgets, compared with an exhaustive search and with lp_solve.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "import/problem_json.h"
#include "solver/problem.h"
#include "solver/warm.h"
#include "unit/solver/brute_force.h"
#include "unit/solver/cancelling.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::add_copies;
using testing::add_random_budgets;
using testing::expect_stops_soon;
using testing::random_problem;
using testing::RandomShape;

Result<Solution> solve_quietly(const PlacementProblem& problem, const SolveOptions& options = {}) {
  Monitor monitor;
  return solve(problem, options, monitor);
}

// Returns whether there is a labelling within the budgets.
bool expect_same(const PlacementProblem& problem, const Result<Solution>& got,
                 const Result<Solution>& want) {
  EXPECT_EQ(got.ok(), want.ok()) << got.status().message() << " | " << want.status().message();
  if (!want.ok()) {
    EXPECT_EQ(want.status().code(), Code::kFailedPrecondition) << want.status().message();
    EXPECT_EQ(got.status().code(), Code::kFailedPrecondition) << got.status().message();
    return false;
  }
  if (!got.ok()) return true;
  EXPECT_EQ(got->cost, want->cost);
  EXPECT_EQ(got->cost, evaluate(problem, got->choice));
  EXPECT_TRUE(got->proven);
  EXPECT_LE(got->bound, want->cost);
  EXPECT_GE(got->bound, want->cost - 1e-6);
  return true;
}

TEST(Budgets, MatchBruteForce) {
  int feasible = 0;
  for (uint32_t seed = 0; seed < 1200; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed);
    add_random_budgets(problem, seed + 1, seed % 4, seed % 3 == 0 ? 6 : 1);
    feasible += expect_same(problem, solve_quietly(problem), solve_brute_force(problem));
  }
  EXPECT_GT(feasible, 400);
  EXPECT_LT(feasible, 1100);
}

TEST(Budgets, MatchBruteForceOnFrustratedProblemsByBranchingAlone) {
  const RandomShape dense{.min_variables = 6,
                          .max_variables = 8,
                          .max_labels = 4,
                          .edges_per_variable = 3,
                          .forbidden = 0.02};
  SolveOptions options;
  options.table_budget_bytes = 0;
  uint32_t branched = 0;
  for (uint32_t seed = 3000; seed < 3300; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, dense);
    add_random_budgets(problem, seed + 1, 1 + seed % 3, seed % 2 == 0 ? 5 : 1);
    const auto got = solve_quietly(problem, options);
    expect_same(problem, got, solve_brute_force(problem));
    if (got.ok()) branched += got->stats.branch_nodes > 0;
  }
  EXPECT_GT(branched, 25u);
}

TEST(Budgets, HaveOneOptimumWhateverTheThreads) {
  const RandomShape shape{.min_variables = 90,
                          .max_variables = 90,
                          .max_labels = 8,
                          .edges_per_variable = 2,
                          .forbidden = 0,
                          .max_cost = 1000};
  PlacementProblem problem = random_problem(4015, shape);
  add_random_budgets(problem, 4016, 2, 12);
  SolveOptions options;
  const auto one = solve_quietly(problem, options);
  ASSERT_TRUE(one.ok() && one->proven);
  EXPECT_GT(one->stats.branch_nodes, 200u);  // enough that other threads join
  for (options.threads = 2; options.threads < 5; ++options.threads) {
    const auto got = solve_quietly(problem, options);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_TRUE(got->proven);
    EXPECT_EQ(got->cost, one->cost);
    EXPECT_EQ(got->cost, evaluate(problem, got->choice));
    EXPECT_LE(got->bound, got->cost);
  }
}

// A problem for which branching does not end within the time of a test.
PlacementProblem endless_problem() {
  const RandomShape large{.min_variables = 80,
                          .max_variables = 80,
                          .max_labels = 8,
                          .edges_per_variable = 3,
                          .forbidden = 0};
  PlacementProblem problem = random_problem(5, large);
  add_random_budgets(problem, 6, 2, 12);
  return problem;
}

// The number of progress reports of a single-threaded solve until it has settled `parts` parts.
uint32_t reports_of(const PlacementProblem& problem, uint64_t parts) {
  uint32_t reports = 0;
  Monitor monitor;
  monitor.on_progress = [&](const Progress&) { return ++reports == 0; };
  SolveOptions options;
  options.max_branch_nodes = parts;
  const auto got = solve(problem, options, monitor);
  EXPECT_TRUE(got.ok() && got->stats.branch_nodes == parts);
  return reports;
}

// Another thread raises the flag while all threads branch.
TEST(Budgets, OnThreadsStopSoonAfterTheFlagIsRaised) {
  const PlacementProblem problem = endless_problem();
  const uint32_t alone = reports_of(problem, 200);  // from there on, threads share the work
  for (const uint32_t more : {1u, 10u, 40u}) {
    SCOPED_TRACE(more);
    constexpr uint32_t kThreads = 4;
    std::atomic<bool> cancel = false;
    std::atomic<uint32_t> reports = 0;
    std::clock_t raised = 0;  // CPU time of all threads: the machine may run other things too
    Monitor monitor;
    monitor.cancel = &cancel;
    monitor.on_progress = [&](const Progress&) {
      ++reports;
      reports.notify_all();
      return false;
    };
    std::jthread raiser([&] {
      for (uint32_t now = reports; now < alone + more; now = reports) reports.wait(now);
      raised = std::clock();
      cancel = true;
    });
    SolveOptions options;
    options.threads = kThreads;
    const auto got = solve(problem, options, monitor);
    const std::clock_t stopped = std::clock();
    reports = alone + more;
    reports.notify_all();
    raiser.join();
    ASSERT_FALSE(got.ok()) << "the problem is too easy for this test";
    EXPECT_EQ(got.status().code(), Code::kCancelled);
    // The promised limit is 10 ms per thread. The rest is for sanitizers, which slow the code down.
    EXPECT_LT(static_cast<double>(stopped - raised) / CLOCKS_PER_SEC, kThreads * 0.050);
  }
}

TEST(Budgets, OnThreadsStopWhenAProgressCallSaysSo) {
  const PlacementProblem problem = endless_problem();
  const uint32_t alone = reports_of(problem, 200);
  for (const uint32_t more : {1u, 2u, 30u}) {
    uint32_t left = alone + more;
    Monitor monitor;
    monitor.on_progress = [&](const Progress&) { return --left == 0; };
    SolveOptions options;
    options.threads = 3;
    EXPECT_EQ(solve(problem, options, monitor).status().code(), Code::kCancelled);
    EXPECT_EQ(left, 0u);
  }
}

TEST(Budgets, MatchLpSolve) {
  const RandomShape medium{.min_variables = 5,
                           .max_variables = 12,
                           .max_labels = 4,
                           .edges_per_variable = 1.4,
                           .forbidden = 0.04};
  int feasible = 0;
  for (uint32_t seed = 5000; seed < 6000; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, medium);
    add_random_budgets(problem, seed + 1, seed % 4, seed % 5 == 0 ? 8 : 1);
    feasible += expect_same(problem, solve_quietly(problem), solve_with_lp_solve(problem, 0));
  }
  EXPECT_GT(feasible, 400);
  EXPECT_LT(feasible, 950);
}

// Improves the incumbent from the first cell on, on problems small enough that the answer is known.
TEST(Budgets, HaveOneOptimumIfTheIncumbentIsImproved) {
  const RandomShape shape{.min_variables = 30,
                          .max_variables = 40,
                          .max_labels = 8,
                          .edges_per_variable = 2,
                          .forbidden = 0.02,
                          .max_cost = 1000};
  uint32_t branched = 0;
  for (uint32_t seed = 7000; seed < 7045; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, shape);
    add_random_budgets(problem, seed + 1, 1 + seed % 3, seed % 2 == 0 ? 12 : 1);
    SolveOptions options;
    options.table_budget_bytes = 0;
    const auto want = solve_quietly(problem, options);
    options.improve_from = 0;
    const auto got = solve_quietly(problem, options);
    ASSERT_EQ(got.ok(), want.ok());
    if (!got.ok()) continue;
    EXPECT_TRUE(got->proven);
    EXPECT_NEAR(got->cost, want->cost, 1e-6);
    EXPECT_EQ(got->cost, evaluate(problem, got->choice));
    EXPECT_LE(got->bound, got->cost);
    branched += got->stats.branch_nodes > 10;
  }
  EXPECT_GT(branched, 5u);
}

// An answer that is cut short by the work limit is within the budgets, and its bound is valid.
TEST(Budgets, StopAfterTheirWork) {
  const RandomShape shape{.min_variables = 30,
                          .max_variables = 40,
                          .max_labels = 8,
                          .edges_per_variable = 2,
                          .max_cost = 1000};
  uint32_t cut = 0;
  for (uint32_t seed = 7100; seed < 7300; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, shape);
    add_random_budgets(problem, seed + 1, 2, 12);
    SolveOptions options;
    options.table_budget_bytes = 0;
    const auto want = solve_quietly(problem, options);
    if (!want.ok() || want->stats.branch_nodes < 20) continue;
    options.max_cells = want->stats.cells / 4;
    const auto got = solve_quietly(problem, options);
    if (!got.ok()) {
      EXPECT_EQ(got.status().code(), Code::kResourceExhausted);
      continue;
    }
    EXPECT_LT(got->stats.cells, want->stats.cells / 2);
    EXPECT_GE(got->cost, want->cost - 1e-6);
    EXPECT_LE(got->bound, want->cost + 1e-6);
    ++cut;
  }
  EXPECT_GT(cut, 3u);
}

// A rough answer is within the budgets and near the optimum, and its bound is valid.
TEST(Budgets, MatchBruteForceIfTheProblemCountsAsHuge) {
  SolveOptions huge;
  huge.huge_cells = 0;
  int feasible = 0;
  for (uint32_t seed = 9000; seed < 9600; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed);
    add_random_budgets(problem, seed + 1, 1 + seed % 3, seed % 3 == 0 ? 6 : 1);
    const auto optimum = solve_brute_force(problem);
    const auto got = solve_quietly(problem, huge);
    if (!optimum.ok()) {
      EXPECT_FALSE(got.ok());
      continue;
    }
    if (!got.ok()) {  // found none, which proves nothing
      EXPECT_EQ(got.status().code(), Code::kResourceExhausted) << got.status().message();
      continue;
    }
    ++feasible;
    EXPECT_EQ(got->cost, evaluate(problem, got->choice));
    EXPECT_GE(got->cost, optimum->cost);
    EXPECT_LE(got->bound, optimum->cost + 1e-9);
  }
  EXPECT_GT(feasible, 200);
}

// A chain of layers whose expensive labels use little of a budget.
PlacementProblem layers_within_a_budget() {
  constexpr uint32_t kLayers = 60, kLabels = 60;
  std::mt19937 random(5);
  std::vector<double> unary, usage, pairs;
  for (uint32_t x = 0; x < kLabels; ++x) {
    usage.push_back(1 + static_cast<double>(random() % 1000));
    unary.push_back(300'000 / usage.back() + static_cast<double>(random() % 1000));
  }
  for (uint32_t i = 0; i < kLabels * kLabels; ++i)
    pairs.push_back(static_cast<double>(random() % 1000));
  PlacementProblem problem;
  const uint32_t budget = problem.add_budget(kLayers * 300),
                 table = problem.add_matrix(kLabels, kLabels, pairs);
  for (uint32_t v = 0; v < kLayers; ++v) {
    problem.add_variable(unary);
    problem.add_usage(budget, v, 0, 1, usage);
    if (v > 0) problem.add_edge(v - 1, v, table);
  }
  return problem;
}

// Prices are adjusted on the likely labels, so fewer sweeps over all labels are needed.
TEST(Budgets, OfHugeProblemsTakeFewerSweeps) {
  const PlacementProblem problem = layers_within_a_budget();
  SolveOptions options;
  options.relative_gap = 1e-3;
  const auto swept = solve_quietly(problem, options);
  options.huge_cells = 1;
  const auto likely = solve_quietly(problem, options);
  ASSERT_TRUE(swept.ok()) << swept.status().message();
  ASSERT_TRUE(likely.ok()) << likely.status().message();
  EXPECT_TRUE(likely->proven);
  EXPECT_LT(5 * likely->stats.sweeps, 3 * swept->stats.sweeps);
}

// Messages are still useful after a variable was added. Of the rest of a warm start, only the
// prices are.
TEST(Budgets, OfHugeProblemsGoOnFromTheMessagesOfTheLast) {
  PlacementProblem problem = layers_within_a_budget();
  SolveOptions options;
  options.huge_cells = 1;
  options.relative_gap = 1e-2;
  options.keep_warm = true;
  const auto rough = solve_quietly(problem, options);
  ASSERT_TRUE(rough.ok()) << rough.status().message();
  ASSERT_NE(rough->warm->messages, nullptr);
  const WarmStart without{problem.share(), rough->choice, {}, rough->prices, nullptr};
  problem.add_variable(std::array{0.0, 1.0});
  options.relative_gap = 1e-3;
  options.warm = &without;
  const auto anew = solve_quietly(problem, options);
  options.warm = rough->warm.get();
  const auto again = solve_quietly(problem, options);
  ASSERT_TRUE(anew.ok() && again.ok());
  EXPECT_TRUE(anew->proven && again->proven);
  EXPECT_LT(again->stats.sweeps, anew->stats.sweeps);
  EXPECT_LT(again->stats.cells, anew->stats.cells);
}

// With many rows, the prices of other labels keep the bundle in place. With one row they do not:
// the bundle alone would need fewer steps here.
TEST(Budgets, MovePricesByAveragesFirstEvenFromAWarmStart) {
  constexpr uint32_t kAverages = 16;  // steps
  const PlacementProblem problem = layers_within_a_budget();
  const auto cold = solve_quietly(problem);
  ASSERT_TRUE(cold.ok()) << cold.status().message();
  WarmStart warm{problem.share(), cold->choice, {}, cold->prices, nullptr};
  for (BudgetPrice& price : warm.prices) price.price *= 1.2;
  SolveOptions options;
  options.warm = &warm;
  const auto again = solve_quietly(problem, options);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_GE(again->stats.sweeps, kAverages);
  EXPECT_EQ(again->cost, cold->cost);
}

// Bounds are valid whatever messages a huge problem starts from.
TEST(Budgets, MatchBruteForceFromTheMessagesOfAnotherProblem) {
  SolveOptions huge;
  huge.huge_cells = 0;
  huge.keep_warm = true;
  int feasible = 0;
  for (uint32_t seed = 9700; seed < 10300; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed);
    add_random_budgets(problem, seed + 1, 1, 6);
    huge.warm = nullptr;
    const auto first = solve_quietly(problem, huge);
    if (!first.ok() || first->warm->messages == nullptr) continue;
    problem.add_unary(0, std::vector<double>(problem.num_labels(0), 3));
    problem.add_variable(std::array{1.0, 2.0});
    add_random_budgets(problem, seed + 2, 1, 6);
    const auto optimum = solve_brute_force(problem);
    huge.warm = first->warm.get();
    const auto got = solve_quietly(problem, huge);
    if (!optimum.ok() || !got.ok()) continue;
    ++feasible;
    EXPECT_GE(got->cost, optimum->cost - 1e-9);
    EXPECT_LE(got->bound, optimum->cost + 1e-9);
  }
  EXPECT_GT(feasible, 50);
}

// Copies are determined by the layouts at both ends of an edge (placement/memory_copies.cc).
TEST(Budgets, OnCopiesMatchBruteForce) {
  int feasible = 0, copies = 0;
  for (uint32_t seed = 8000; seed < 8400; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem =
        random_problem(seed, {.min_variables = 2, .max_variables = 6, .forbidden = 0.05});
    copies += static_cast<int>(add_copies(problem, seed, 3, seed % 2 == 0 ? 9 : 0));
    add_random_budgets(problem, seed + 1, 1 + seed % 2, seed % 3 == 0 ? 6 : 1);
    feasible += expect_same(problem, solve_quietly(problem), solve_brute_force(problem));
  }
  EXPECT_GT(feasible, 150);
  EXPECT_GT(copies, 600);
}

TEST(Budgets, AreKeptAmongTheLikelyLabels) {
  const RandomShape shape{.min_variables = 6,
                          .max_variables = 8,
                          .max_labels = 5,
                          .edges_per_variable = 2,
                          .forbidden = 0.02,
                          .max_cost = 100};
  SolveOptions rough;
  rough.likely_cells = 40;
  int feasible = 0, found = 0, best = 0, proven = 0;
  for (uint32_t seed = 7000; seed < 7300; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, shape);
    add_random_budgets(problem, seed + 1, 1 + seed % 3, seed % 2 == 0 ? 5 : 1);
    const auto optimum = solve_brute_force(problem);
    const auto got = solve_quietly(problem, rough);
    if (!optimum.ok()) {
      EXPECT_FALSE(got.ok());
      continue;
    }
    ++feasible;
    if (!got.ok()) {  // nothing among these labels, which proves nothing
      EXPECT_EQ(got.status().code(), Code::kResourceExhausted) << got.status().message();
      continue;
    }
    ++found;
    EXPECT_EQ(got->cost, evaluate(problem, got->choice));
    EXPECT_GE(got->cost, optimum->cost);
    EXPECT_LE(got->bound, optimum->cost);
    best += got->cost == optimum->cost;
    proven += got->proven;
  }
  EXPECT_GT(found, feasible * 9 / 10);
  EXPECT_GT(best, feasible / 2);
  EXPECT_LT(proven, feasible);  // otherwise all problems were small
}

// The work grows with the number of likely labels, not with the number of all labels.
TEST(Budgets, TakeWorkInProportionForARoughAnswer) {
  const RandomShape shape{.min_variables = 60,
                          .max_variables = 60,
                          .max_labels = 40,
                          .edges_per_variable = 3,
                          .forbidden = 0,
                          .max_cost = 1000};
  PlacementProblem problem = random_problem(11, shape);
  add_random_budgets(problem, 12, 2, 12);
  SolveOptions options;
  options.relative_gap = 2e-3;
  options.max_branch_nodes = 20;
  const auto all = solve_quietly(problem, options);
  options.likely_cells = 4000;
  const auto likely = solve_quietly(problem, options);
  ASSERT_TRUE(all.ok()) << all.status().message();
  ASSERT_TRUE(likely.ok()) << likely.status().message();
  EXPECT_LT(5 * likely->stats.cells, all->stats.cells);
  EXPECT_LT(likely->cost, 1.2 * all->cost);
}

TEST(Budgets, CountVariablesOnlyWhileLive) {
  PlacementProblem p;  // two variables that are never live together may both take the large label
  for (int v = 0; v < 3; ++v) p.add_variable(std::vector<double>{0, 10});
  const uint32_t budget = p.add_budget(7);
  const std::vector<double> usage{5, 2};
  p.add_usage(budget, 0, 0, 4, usage);
  p.add_usage(budget, 1, 4, 6, usage);
  p.add_usage(budget, 2, 2, 5, usage);
  const auto got = solve_quietly(p);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->choice, (std::vector<uint32_t>{0, 0, 1}));
  EXPECT_EQ(got->cost, 10);
  EXPECT_EQ(peak_load(p, budget, got->choice), 7);
  EXPECT_EQ(evaluate(p, std::vector<uint32_t>{0, 1, 0}), kForbidden);
  EXPECT_EQ(peak_load(p, budget, std::vector<uint32_t>{0, 1, 0}), 10);
}

// Two kinds of equal layers use much or little of a budget. Prices balance a fraction of a layer,
// and it does not matter which layers use much. So only counting closes the gap.
TEST(Budgets, OfEqualLayersAreClosedByCounting) {
  constexpr uint32_t kLayers = 32;
  constexpr int kMuch[] = {62, 26}, kGain[] = {60, 20};
  constexpr int kLimit = 62 * 16 + 40;
  PlacementProblem p;
  const uint32_t budget = p.add_budget(kLimit);
  for (int kind = 0; kind < 2; ++kind)
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      const auto gain = static_cast<double>(kGain[kind]), much = static_cast<double>(kMuch[kind]);
      const uint32_t v = p.add_variable(std::vector<double>{gain, 0});
      p.add_usage(budget, v, 0, 1, std::vector<double>{0, much});
    }
  double best = kForbidden;
  for (int a = 0; a <= 32; ++a)
    for (int b = 0; b <= 32; ++b)
      if (kMuch[0] * a + kMuch[1] * b <= kLimit)
        best = std::min<double>(best, kGain[0] * (32 - a) + kGain[1] * (32 - b));
  SolveOptions options;
  options.max_branch_nodes = 200;
  const auto got = solve_quietly(p, options);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_NEAR(got->cost, best, 1e-9);
  EXPECT_TRUE(got->proven) << got->bound << " of " << got->cost;
}

// The same with two budgets that bind at the same time: fronts of both close the gap at the root.
TEST(Budgets, OfEqualLayersAreClosedByFronts) {
  PlacementProblem p;
  p.add_variable(std::vector<double>{100'000});  // relative to this cost the gap is narrow
  const uint32_t budgets[] = {p.add_budget(170), p.add_budget(145)};
  for (uint32_t layer = 0; layer < 16; ++layer) {
    const uint32_t v = p.add_variable(std::vector<double>{31, 14, 0});
    p.add_usage(budgets[0], v, 0, 1, std::vector<double>{0, 17, 37});
    p.add_usage(budgets[1], v, 0, 1, std::vector<double>{0, 19, 23});
  }
  double best = kForbidden;
  for (int much = 0; much <= 16; ++much)
    for (int some = 0; much + some <= 16; ++some)
      if (37 * much + 17 * some <= 170 && 23 * much + 19 * some <= 145)
        best = std::min<double>(best, 100'000 + 14 * some + 31 * (16 - much - some));
  SolveOptions options;
  options.max_branch_nodes = 0;
  const auto got = solve_quietly(p, options);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_NEAR(got->cost, best, 1e-9);
  EXPECT_TRUE(got->proven) << got->bound << " of " << got->cost;
}

TEST(Budgets, AskedForLessThanTheOptimumSayThatThereIsNone) {
  int solved = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    PlacementProblem problem = random_problem(seed, {.max_variables = 8, .max_labels = 3});
    add_random_budgets(problem, seed, 1 + seed % 2, 1 + seed % 4);
    const auto want = solve_brute_force(problem);
    if (!want.ok()) continue;
    ++solved;
    SolveOptions options;
    options.cost_below = want->cost;
    EXPECT_EQ(solve_quietly(problem, options).status().code(), Code::kFailedPrecondition) << seed;
    options.cost_below = want->cost + 0.5;
    expect_same(problem, solve_quietly(problem, options), want);
  }
  EXPECT_GT(solved, 100);
}

TEST(Budgets, NobodyUsesStillBind) {
  PlacementProblem p;
  p.add_variable(std::vector<double>{3, 1});
  p.add_budget(0);
  const auto got = solve_quietly(p);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->cost, 1);
  p.add_budget(-1);
  EXPECT_EQ(solve_quietly(p).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(solve_brute_force(p).status().code(), Code::kFailedPrecondition);
}

TEST(Budgets, SayWhenNothingIsWithinThem) {
  PlacementProblem p;
  for (int v = 0; v < 3; ++v) p.add_variable(std::vector<double>{0, 10});
  const uint32_t budget = p.add_budget(8);
  for (uint32_t v = 0; v < 3; ++v) p.add_usage(budget, v, 0, 1, std::vector<double>{5, 3});
  const auto got = solve_quietly(p);
  EXPECT_EQ(got.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(got.status().message().find("budget"), std::string::npos);
}

PlacementProblem hard_problem() {  // takes seconds
  PlacementProblem problem = random_problem(7, {.min_variables = 150,
                                                .max_variables = 150,
                                                .max_labels = 12,
                                                .edges_per_variable = 4,
                                                .forbidden = 0,
                                                .max_cost = 1000});
  add_random_budgets(problem, 8, 2, 40);
  return problem;
}

TEST(Budgets, GiveTheIncumbentAtTheTimeLimit) {
  const PlacementProblem problem = hard_problem();
  SolveOptions options;
  options.deadline = Deadline::in(0.3);
  const auto got = solve_quietly(problem, options);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_FALSE(got->proven);
  EXPECT_LT(got->bound, got->cost);
  EXPECT_EQ(got->cost, evaluate(problem, got->choice));
}

TEST(Budgets, StopSoonAfterTheFlagIsRaised) {
  const PlacementProblem problem = hard_problem();
  expect_stops_soon(problem, {1, 30, 200});
}

// Holds whether the search completes or a limit ends it. Several threads work only on the parts
// beyond the first few hundred.
TEST(Budgets, AreSolvedAlikeByAnyNumberOfThreads) {
  PlacementProblem problem = random_problem(701, {.min_variables = 45,
                                                  .max_variables = 45,
                                                  .max_labels = 8,
                                                  .edges_per_variable = 3,
                                                  .forbidden = 0,
                                                  .max_cost = 1000});
  add_random_budgets(problem, 9, 2, 20);
  for (const uint64_t most_parts : {300, 100000}) {
    SolveOptions options;
    options.max_branch_nodes = most_parts;
    const auto alone = solve_quietly(problem, options);
    ASSERT_TRUE(alone.ok()) << alone.status().message();
    ASSERT_GE(alone->stats.branch_nodes, 300u) << "too easy for this test";
    EXPECT_LE(alone->stats.branch_nodes, most_parts);
    EXPECT_EQ(alone->proven, most_parts > 300);
    for (const uint32_t threads : {2, 4, 16}) {
      SCOPED_TRACE(threads);
      options.threads = threads;
      const auto together = solve_quietly(problem, options);
      ASSERT_TRUE(together.ok()) << together.status().message();
      EXPECT_EQ(together->choice, alone->choice);
      EXPECT_EQ(together->cost, alone->cost);
      EXPECT_EQ(together->bound, alone->bound);
      EXPECT_EQ(together->stats.branch_nodes, alone->stats.branch_nodes);
      EXPECT_EQ(together->stats.sweeps, alone->stats.sweeps);
    }
  }
}

TEST(Budgets, RefuseWhatDoesNotFit) {
  PlacementProblem nan;
  nan.add_variable(std::vector<double>{0});
  nan.add_budget(kForbidden);
  PlacementProblem usage;
  usage.add_variable(std::vector<double>{0});
  usage.add_usage(usage.add_budget(1), 0, 0, 1, std::vector<double>{kForbidden});
  PlacementProblem nowhere;
  nowhere.add_variable(std::vector<double>{0});
  nowhere.add_usage(nowhere.add_budget(1), 1, 0, 1, std::vector<double>{1});
  PlacementProblem size;
  size.add_variable(std::vector<double>{0});
  size.add_usage(size.add_budget(1), 0, 0, 1, std::vector<double>{1, 2});
  for (const PlacementProblem* p : {&nan, &usage, &nowhere, &size})
    EXPECT_EQ(solve_quietly(*p).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::solver
