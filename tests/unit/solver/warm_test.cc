// Consecutive solves of similar problems: a warm start must be as exact as a cold one.
#include "solver/warm.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::add_random_budgets;
using testing::random_problem;
using testing::RandomShape;

// Sweeps do not solve these problems immediately, and presolve leaves most of each.
constexpr RandomShape kDense{.min_variables = 8,
                             .max_variables = 16,
                             .max_labels = 6,
                             .edges_per_variable = 2.5,
                             .forbidden = 0.03,
                             .max_cost = 100};

Result<Solution> solve_quietly(const PlacementProblem& problem, const WarmStart* warm = nullptr,
                               bool keep_warm = false) {
  Monitor monitor;
  // Elimination gets no tables, because only solves with sweeps give floors.
  return solve(problem, {.table_budget_bytes = 0, .warm = warm, .keep_warm = keep_warm}, monitor);
}

// Returns whether there was an answer.
bool expect_as_cold(const PlacementProblem& problem, const WarmStart& warm) {
  const auto cold = solve_quietly(problem), got = solve_quietly(problem, &warm, true);
  EXPECT_EQ(got.status().code(), cold.status().code());
  if (!cold.ok() || !got.ok()) return false;
  EXPECT_EQ(got->cost, cold->cost);
  EXPECT_EQ(got->cost, evaluate(problem, got->choice));
  EXPECT_EQ(got->proven, cold->proven);
  EXPECT_LE(got->bound, got->cost);
  EXPECT_GE(got->bound, got->cost - 2e-9 * got->cost);
  EXPECT_NE(got->warm, nullptr);
  return true;
}

// Forbids a few labels and makes others more expensive or, if `cheaper`, cheaper.
void change_labels(PlacementProblem& problem, uint32_t seed, bool cheaper) {
  std::mt19937 random(seed);
  for (int i = 0; i < 3; ++i) {
    const auto v = static_cast<uint32_t>(random() % problem.num_variables());
    std::vector<double> change(problem.num_labels(v));
    for (uint32_t x = 0; x < change.size(); ++x) {
      const auto by = static_cast<double>(random() % 30);
      if (random() % 3 == 0) change[x] = kForbidden;
      if (random() % 3 == 0) change[x] = cheaper ? -std::min(by, problem.unary(v)[x]) : by;
      if (problem.unary(v)[x] == kForbidden) change[x] = 0;
    }
    problem.add_unary(v, change);
  }
}

void add_edge_between(PlacementProblem& problem, uint32_t seed) {
  std::mt19937 random(seed);
  const auto a = static_cast<uint32_t>(random() % problem.num_variables());
  const auto b = static_cast<uint32_t>(random() % problem.num_variables());
  std::vector<double> costs(size_t{problem.num_labels(a)} * problem.num_labels(b));
  for (double& c : costs) c = random() % 4 == 0 ? kForbidden : static_cast<double>(random() % 50);
  problem.add_edge(a, b, problem.add_matrix(problem.num_labels(a), problem.num_labels(b), costs));
}

// Returns how many floors are known.
uint32_t expect_floors_hold(const PlacementProblem& problem, std::span<const double> floors) {
  uint32_t known = 0;
  for (uint32_t v = 0; v < problem.num_variables() && !floors.empty(); ++v)
    for (uint32_t i = 0; i < problem.num_labels(v); ++i) {
      const double floor = floors[problem.first_label(v) + i];
      if (floor == -kForbidden) continue;
      PlacementProblem pinned = problem.share();
      std::vector<double> pin(problem.num_labels(v), kForbidden);
      pin[i] = 0;
      pinned.add_unary(v, pin);
      const auto best = solve_quietly(pinned);
      if (best.ok()) {
        EXPECT_LE(floor, best->cost * (1 + 1e-9)) << v << " " << i;
      }
      known += floor != kForbidden;
    }
  return known;
}

TEST(WarmStart, FloorsAreBelowEveryLabellingWithTheLabel) {
  uint32_t known = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, kDense);
    if (seed % 3 == 0) add_random_budgets(problem, seed, 1, seed % 2 == 0 ? 4 : 1);
    const auto first = solve_quietly(problem, nullptr, true);
    if (!first.ok()) continue;
    known += expect_floors_hold(problem, first->warm->floors);
    change_labels(problem, seed + 1, seed % 2 == 0);
    const auto next = solve_quietly(problem, first->warm.get(), true);
    if (next.ok()) known += expect_floors_hold(problem, next->warm->floors);
  }
  EXPECT_GT(known, 200u);
}

TEST(WarmStart, GivesTheOptimumOfTheChangedProblem) {
  uint32_t answers = 0, floors = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, kDense);
    const auto first = solve_quietly(problem, nullptr, true);
    if (!first.ok()) continue;
    floors += !first->warm->floors.empty();
    change_labels(problem, seed + 1, seed % 4 == 0);
    if (seed % 5 == 0) add_edge_between(problem, seed + 2);
    answers += expect_as_cold(problem, *first->warm);
  }
  EXPECT_GT(answers, 150u);
  EXPECT_GT(floors, 100u);
}

TEST(WarmStart, GoesOnFromOneWarmAnswerToTheNext) {
  uint32_t answers = 0;
  for (uint32_t seed = 500; seed < 560; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = random_problem(seed, kDense);
    auto last = solve_quietly(problem, nullptr, true);
    for (uint32_t step = 1; step < 6 && last.ok(); ++step) {
      SCOPED_TRACE(step);
      change_labels(problem, 7 * seed + step, step == 3);
      answers += expect_as_cold(problem, *last->warm);
      last = solve_quietly(problem, last->warm.get(), true);
      if (last.ok()) expect_floors_hold(problem, last->warm->floors);
    }
  }
  EXPECT_GT(answers, 60u);
}

TEST(WarmStart, HoldsUnderBudgetsThatMove) {
  uint32_t answers = 0;
  for (uint32_t seed = 1000; seed < 1250; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem plain = random_problem(seed, kDense);
    PlacementProblem problem = plain.share();
    add_random_budgets(problem, seed + 1, 1 + seed % 2, seed % 3 == 0 ? 5 : 1);
    const auto first = solve_quietly(problem, nullptr, true);
    if (!first.ok()) continue;
    if (seed % 2 == 0) change_labels(problem, seed + 2, seed % 4 == 0);
    answers += expect_as_cold(problem, *first->warm);
    answers += expect_as_cold(plain, *first->warm);  // no budget any more
    add_random_budgets(plain, seed + 1 + seed % 2, 1 + seed % 2, seed % 3 == 0 ? 5 : 1);
    answers += expect_as_cold(plain, *first->warm);  // the same budget, or another
  }
  EXPECT_GT(answers, 200u);
}

TEST(WarmStart, OfAnotherProblemIsHarmless) {
  uint32_t answers = 0;
  for (uint32_t seed = 2000; seed < 2100; ++seed) {
    SCOPED_TRACE(seed);
    const auto first = solve_quietly(random_problem(seed, kDense), nullptr, true);
    if (!first.ok()) continue;
    PlacementProblem same_shape = random_problem(seed, kDense);  // the same edges, other tables
    PlacementProblem other;
    for (uint32_t v = 0; v < same_shape.num_variables(); ++v)
      other.add_variable(same_shape.unary(v));
    std::mt19937 random(seed);
    for (const auto& e : same_shape.edges()) {
      const auto& m = same_shape.matrices()[e.matrix];
      std::vector<double> costs(size_t{m.rows} * m.cols);
      for (double& c : costs) c = static_cast<double>(random() % 100);
      other.add_edge(e.a, e.b, other.add_matrix(m.rows, m.cols, costs), e.transposed != 0);
    }
    answers += expect_as_cold(other, *first->warm);
    answers += expect_as_cold(random_problem(seed + 1, kDense), *first->warm);
  }
  EXPECT_GT(answers, 60u);
}

TEST(WarmStart, ThatIsBrokenIsIgnored) {
  const PlacementProblem problem = random_problem(3, kDense);
  const auto first = solve_quietly(problem, nullptr, true);
  ASSERT_TRUE(first.ok());
  const auto broken = [&](const std::function<void(WarmStart&)>& by) {
    WarmStart warm{problem.share(), first->choice, first->warm->floors, {}};
    by(warm);
    EXPECT_TRUE(expect_as_cold(problem, warm));
  };
  broken([](WarmStart& w) { w.choice[0] = 1000; });
  broken([](WarmStart& w) { w.choice.clear(); });
  broken([](WarmStart& w) { w.floors.assign(1, 0.0); });
  broken([](WarmStart& w) { w.prices.push_back({7, 3, 1.0}); });
  broken([](WarmStart& w) { w.problem = PlacementProblem(); });
}

}  // namespace
}  // namespace shw::solver
