// Tests how the relaxation moves prices.
#include "solver/relaxation.h"

#include <gtest/gtest.h>

#include <array>

#include "solver/budget_rows.h"

namespace shw::solver {
namespace {

// Three neighbours with two labels each must all differ. So every labelling from a sweep has a
// forbidden pair, although each label has a partner. A fourth variable exceeds the budget with its
// cheap label.
TEST(Relaxation, RaisesPricesWhereSweepsRunIntoForbiddenPairs) {
  PlacementProblem problem;
  for (int v = 0; v < 3; ++v) problem.add_variable(std::array{0.0, 0.0});
  const uint32_t differ = problem.add_matrix(2, 2, std::array{kForbidden, 0.0, 0.0, kForbidden});
  for (const auto& [a, b] : {std::pair(0u, 1u), std::pair(1u, 2u), std::pair(0u, 2u)})
    problem.add_edge(a, b, differ);
  const uint32_t variable = problem.add_variable(std::array{0.0, 10.0});
  problem.add_usage(problem.add_budget(0.5), variable, 0, 1, std::array{1.0, 0.0});

  const BudgetRows rows(problem);
  ASSERT_EQ(rows.size(), 1u);
  Monitor monitor;
  Watch watch(monitor, Deadline());
  Relaxation relaxation(problem, rows, {0}, watch);
  ASSERT_TRUE(relaxation.sweep().ok());
  EXPECT_LE(relaxation.bound(), 0);
  for (int step = 0; step < 50; ++step) ASSERT_TRUE(relaxation.step(6).ok());
  EXPECT_EQ(relaxation.trws().cost(), kForbidden);
  EXPECT_GT(relaxation.bound(), 4.5);  // 5 if one unit is priced at 10
  EXPECT_LE(relaxation.bound(), 5);
}

}  // namespace
}  // namespace shw::solver
