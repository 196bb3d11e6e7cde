// Checks certificates with a checker that uses only the problem and the rules in certificate.h.
#include "solver/certificate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "import/iopddl.h"
#include "import/problem_json.h"
#include "unit/solver/checked_bound.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::checked_bound;

TEST(Certificate, ProvesItsBoundOnRandomProblems) {
  uint32_t checked = 0, tight = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = testing::random_problem(seed);
    testing::add_random_budgets(problem, seed + 1, seed % 4, seed % 3 == 0 ? 6 : 1);
    Monitor monitor;
    const auto got = solve(problem, {}, monitor);
    if (!got.ok()) continue;
    const auto certificate = certify(problem, got->prices, 100, monitor);
    ASSERT_TRUE(certificate.ok()) << certificate.status().message();
    const double bound = checked_bound(problem, *certificate);
    EXPECT_NEAR(bound, certificate->bound, 1e-9 * (1 + std::abs(bound)));
    EXPECT_LE(bound, got->cost + 1e-9 * (1 + got->cost));
    ++checked;
    tight += bound > got->cost - 1e-6;
  }
  EXPECT_GT(checked, 200u);
  EXPECT_GT(tight, checked / 2);
}

TEST(Certificate, ProvesTheOptimumWithoutBudgets) {
  for (const char* name : {"block_2d8x8", "llama8b_L2_8x8_einsum"}) {
    const auto imported = import::read_problem(
        std::string(SHW_TEST_DATA) + "/problems/" + name + ".problem.json.gz", false);
    ASSERT_TRUE(imported.ok());
    Monitor monitor;
    const auto got = solve(imported->problem, {}, monitor);
    ASSERT_TRUE(got.ok());
    const auto certificate = certify(imported->problem, {}, 200, monitor);
    ASSERT_TRUE(certificate.ok()) << certificate.status().message();
    const double bound = checked_bound(imported->problem, *certificate);
    EXPECT_NEAR(bound, certificate->bound, 1e-9 * bound);
    EXPECT_NEAR(bound, got->cost, 1e-9 * got->cost) << name;
  }
}

TEST(Certificate, ProvesTheOptimumOfAContestInstance) {
  const auto problem = import::read_iopddl(std::string(SHW_TEST_DATA) + "/iopddl/B.json.gz");
  ASSERT_TRUE(problem.ok());
  Monitor monitor;
  const auto got = solve(*problem, {}, monitor);
  ASSERT_TRUE(got.ok());
  const auto certificate = certify(*problem, got->prices, 2000, monitor);
  ASSERT_TRUE(certificate.ok()) << certificate.status().message();
  const double bound = checked_bound(*problem, *certificate);
  EXPECT_NEAR(bound, certificate->bound, 1e-9 * bound);
  EXPECT_GE(bound, got->cost * (1 - 1e-6));
}

TEST(Certificate, RefusesPricesThatProveNothing) {
  PlacementProblem p;
  p.add_variable(std::vector<double>{1, 2});
  p.add_usage(p.add_budget(1), 0, 0, 1, std::vector<double>{1, 0});
  Monitor monitor;
  for (const BudgetPrice bad : {BudgetPrice{0, 0, -1}, BudgetPrice{1, 0, 1}})
    EXPECT_EQ(certify(p, std::vector{bad}, 1, monitor).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::solver
