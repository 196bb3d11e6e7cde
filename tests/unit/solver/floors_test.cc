// Compares floors with two values: the optimum with the label forced, and the bound that the
// certificate proves with the variable held. Independent code reads the certificate.
#include "solver/floors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "unit/solver/brute_force.h"
#include "unit/solver/checked_bound.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::checked_bound;

double forced_cost(const PlacementProblem& problem, uint32_t variable, uint32_t label) {
  PlacementProblem forced = problem.share();
  std::vector<double> costs(problem.num_labels(variable), kForbidden);
  costs[label] = 0;
  forced.add_unary(variable, costs);
  const auto best = solve_brute_force(forced);
  return best.ok() ? best->cost : kForbidden;
}

TEST(Floors, LieBetweenTheCertificateAndTheForcedOptimum) {
  uint32_t checked = 0, tight = 0, above = 0, tight_in_all = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    PlacementProblem problem = testing::random_problem(seed);
    testing::add_random_budgets(problem, seed + 1, seed % 3, seed % 2 == 0 ? 4 : 1);
    Monitor monitor;
    const auto got = solve(problem, {}, monitor);
    if (!got.ok()) continue;
    const auto certificate = certify(problem, got->prices, 50, monitor);
    ASSERT_TRUE(certificate.ok()) << certificate.status().message();
    const auto all = all_label_floors(problem, *certificate, monitor);
    ASSERT_TRUE(all.ok()) << all.status().message();
    for (uint32_t v = 0; v < problem.num_variables(); ++v) {
      const auto floors = label_floors(problem, *certificate, v, monitor);
      ASSERT_TRUE(floors.ok()) << floors.status().message();
      for (uint32_t i = 0; i < problem.num_labels(v); ++i) {
        const double shared = (*all)[problem.first_label(v) + i];
        ASSERT_LE(shared, forced_cost(problem, v, i)) << "variable " << v << ", label " << i;
        tight_in_all += shared > (*floors)[i] - 1e-6;
        const double floor = (*floors)[i], forced = forced_cost(problem, v, i);
        const double held = checked_bound(problem, *certificate, {v, i});
        ASSERT_LE(floor, forced) << "variable " << v << ", label " << i;
        if (held == kForbidden)
          continue;  // the checker finds more because it starts from the held label
        ASSERT_GE(floor, certificate->bound - 1e-9 * (1 + std::abs(certificate->bound)));
        ++checked;
        tight += floor > forced - 1e-6;
        above += floor > held + 1e-6;
      }
    }
  }
  EXPECT_GT(checked, 2000u);
  EXPECT_GT(tight, checked / 2);
  EXPECT_GT(tight_in_all, checked / 2);
  EXPECT_GT(above, checked / 20);  // the tree improves enough floors
}

TEST(Floors, AreExactOnTrees) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    PlacementProblem problem;
    for (uint32_t v = 0; v < 6; ++v) {
      std::vector<double> unary(3), costs(9);
      for (double& c : unary) c = random() % 20;
      problem.add_variable(unary);
      if (v == 0) continue;
      for (double& c : costs) c = random() % 20;
      problem.add_edge(static_cast<uint32_t>(random() % v), v, problem.add_matrix(3, 3, costs));
    }
    Monitor monitor;
    const auto certificate = certify(problem, {}, 1, monitor);
    ASSERT_TRUE(certificate.ok());
    const auto all = all_label_floors(problem, *certificate, monitor);
    ASSERT_TRUE(all.ok());
    for (uint32_t v = 0; v < 6; ++v) {
      const auto floors = label_floors(problem, *certificate, v, monitor);
      ASSERT_TRUE(floors.ok());
      for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_NEAR((*floors)[i], forced_cost(problem, v, i), 1e-9);
        EXPECT_NEAR((*all)[3 * v + i], (*floors)[i], 1e-9);
      }
    }
  }
}

TEST(Floors, RefuseACertificateOfAnotherProblem) {
  PlacementProblem problem;
  problem.add_variable(std::vector<double>{1, 2});
  Monitor monitor;
  EXPECT_EQ(label_floors(problem, {}, 0, monitor).status().code(), Code::kInternal);
  EXPECT_EQ(all_label_floors(problem, {}, monitor).status().code(), Code::kInternal);
  const auto certificate = certify(problem, {}, 1, monitor);
  ASSERT_TRUE(certificate.ok());
  EXPECT_EQ(label_floors(problem, *certificate, 1, monitor).status().code(), Code::kInternal);
}

}  // namespace
}  // namespace shw::solver
