// Exact rows of budgets: compares fronts of cost against usage with an exhaustive search.
#include "solver/fronts.h"

#include <gtest/gtest.h>

#include <ctime>
#include <numeric>

#include "solver/front_filter.h"
#include "support/monitor.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::add_random_budgets;
using testing::random_problem;

// The least cost at these prices among the labellings within the exact rows.
double least_within(const PlacementProblem& problem, const BudgetRows& rows,
                    std::span<const size_t> exact, std::span<const double> prices) {
  std::vector<uint32_t> choice(problem.num_variables(), 0);
  std::vector<double> over(rows.size());
  double least = kForbidden;
  for (bool more = true; more;) {
    double cost = 0;
    for (uint32_t v = 0; v < problem.num_variables(); ++v) cost += problem.unary(v)[choice[v]];
    for (const auto& e : problem.edges()) cost += problem.edge_cost(e, choice[e.a], choice[e.b]);
    rows.overload(choice, over);
    bool fits = true;
    for (size_t r = 0; r < rows.size(); ++r) {
      const bool is_exact = std::ranges::find(exact, r) != exact.end();
      fits = fits && (!is_exact || over[r] <= 0);
      if (!is_exact) cost += prices[r] * over[r];
    }
    if (fits) least = std::min(least, cost);
    more = false;
    for (uint32_t v = problem.num_variables(); v-- > 0 && !more;) {
      more = ++choice[v] < problem.num_labels(v);
      if (!more) choice[v] = 0;
    }
  }
  return least;
}

// Random problems with rows. The first `exact` rows are exact, and all rows have integer prices.
struct Case {
  PlacementProblem problem;
  BudgetRows rows;
  std::vector<size_t> exact;
  std::vector<double> prices;
};

std::vector<Case> random_cases() {
  std::vector<Case> cases;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    Case c;
    c.problem = random_problem(seed, {.max_variables = 7, .max_labels = 3});
    add_random_budgets(c.problem, seed, 1 + seed % 3, 1 + seed % 4);
    BudgetRows rows(c.problem);
    if (rows.broken() || rows.size() == 0) continue;
    c.rows = std::move(rows);
    c.exact.resize(std::min<size_t>(1 + seed % kMaxExactRows, c.rows.size()));
    std::iota(c.exact.begin(), c.exact.end(), size_t{0});
    for (size_t r = 0; r < c.rows.size(); ++r)
      c.prices.push_back(static_cast<double>((seed + r) % 3));
    cases.push_back(std::move(c));
  }
  return cases;
}

Result<std::optional<FrontAnswer>> ask(const Case& c, double limit, uint64_t max_cells = 1 << 30) {
  Monitor monitor;
  Watch watch(monitor, {});
  return minimise_within_rows(c.problem, c.rows, c.exact, c.prices, limit, max_cells, watch);
}

TEST(Fronts, MatchBruteForce) {
  int feasible = 0;
  for (const Case& c : random_cases()) {
    const double least = least_within(c.problem, c.rows, c.exact, c.prices);
    const auto got = ask(c, 1e6);
    ASSERT_TRUE(got.ok() && got->has_value());
    if (least == kForbidden) {
      EXPECT_TRUE((*got)->choice.empty());
      EXPECT_NEAR((*got)->bound, 1e6, 1e-3);
      continue;
    }
    ++feasible;
    EXPECT_NEAR((*got)->bound, least, 1e-5);
    EXPECT_LE((*got)->bound, least);
    std::vector<double> over(c.rows.size());
    c.rows.overload((*got)->choice, over);
    for (const size_t r : c.exact) EXPECT_LE(over[r], 1e-9);
  }
  EXPECT_GT(feasible, 200);
}

TEST(Fronts, LeaveOutWhatReachesTheLimit) {
  for (const Case& c : random_cases()) {
    const double least = least_within(c.problem, c.rows, c.exact, c.prices);
    if (least == kForbidden) continue;
    const auto none = ask(c, least - 0.5);
    ASSERT_TRUE(none.ok() && none->has_value());
    EXPECT_TRUE((*none)->choice.empty());
    EXPECT_LE((*none)->bound, least);
    EXPECT_NEAR((*none)->bound, least - 0.5, 1e-6);
    const auto one = ask(c, least + 0.5);
    ASSERT_TRUE(one.ok() && one->has_value());
    EXPECT_FALSE((*one)->choice.empty());
  }
}

// 200 equal layers have 201 sums, although the number of labellings is far too large to enumerate.
TEST(Fronts, OfEqualLayersStayShort) {
  Case c;
  const uint32_t budget = c.problem.add_budget(700);
  for (uint32_t layer = 0; layer < 200; ++layer) {
    const uint32_t v = c.problem.add_variable(std::vector<double>{13, 0});
    c.problem.add_usage(budget, v, 0, 1, std::vector<double>{0, 9});
  }
  c.rows = BudgetRows(c.problem);
  c.exact = {0};
  c.prices = {13.0 / 9};
  const auto got = ask(c, 1e6, 20'000'000);
  ASSERT_TRUE(got.ok() && got->has_value());
  EXPECT_NEAR((*got)->bound, 13 * (200 - 700 / 9), 1e-5);
}

// Sorting all of them would take a second.
TEST(Fronts, ManyItemsAreSortedUntilItIsOver) {
  const std::vector<ExactRow> rows{{0, 1, 0}};
  FrontFilter filter(rows, 1e-6);
  std::vector<FrontItem> many;
  for (uint64_t i = 0; i < 1'000'000; ++i)
    many.push_back({static_cast<double>(i * 7919 % 1'000'003), {static_cast<double>(i % 1000)}});
  auto items = many;
  uint64_t asked = 0;
  ASSERT_TRUE(filter(items, [&](uint64_t) -> Result<bool> { return ++asked == 2; }).ok());
  EXPECT_TRUE(items.empty());
  EXPECT_EQ(asked, 2);
  // A complete run checks for cancellation throughout, also while sorting, so there is much to
  // stop.
  ASSERT_TRUE(filter(many, [&](uint64_t) -> Result<bool> { return ++asked == 0; }).ok());
  EXPECT_GT(asked, 300);
  // Each kept item uses less than all items before it, whose values are no higher.
  ASSERT_GT(many.size(), 1);
  for (size_t i = 1; i < many.size(); ++i) {
    EXPECT_LE(filter.value(many[i - 1]), filter.value(many[i]));
    EXPECT_LT(many[i].use[0], many[i - 1].use[0]);
  }
}

TEST(Fronts, AreGivenUpBeyondTheirWork) {
  Case c;
  c.problem = random_problem(3, {.min_variables = 40,
                                 .max_variables = 40,
                                 .max_labels = 6,
                                 .edges_per_variable = 2,
                                 .forbidden = 0});
  add_random_budgets(c.problem, 4, 1, 1);
  c.rows = BudgetRows(c.problem);
  ASSERT_EQ(c.rows.size(), 1);
  c.exact = {0};
  c.prices = {1};
  const auto got = ask(c, 1e6, 1000);
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(got->has_value());
}

}  // namespace
}  // namespace shw::solver
