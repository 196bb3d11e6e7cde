// Certificates, held to a checker that knows the problem and the rules of certificate.h alone.
#include "solver/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "import/iopddl.h"
#include "import/problem_json.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using Flags = std::vector<std::vector<bool>>;  // by variable and label

// What all variables live at a point of a budget use at least.
double least_load(const PlacementProblem& p, uint32_t budget, uint32_t point) {
  double load = 0;
  for (const auto& u : p.usages())
    if (u.budget == budget && u.first <= point && point < u.end)
      load += *std::ranges::min_element(p.usage_of(u));
  return load;
}

// Labels that are allowed, and fit at the points where usages begin or end beside the least of all
// others.
Flags possible_labels(const PlacementProblem& p) {
  Flags possible;
  for (uint32_t v = 0; v < p.num_variables(); ++v) {
    possible.emplace_back();
    for (const double c : p.unary(v)) possible.back().push_back(c != kForbidden);
  }
  std::vector<std::vector<std::pair<uint32_t, double>>> loads(p.budget_limits().size());
  for (uint32_t b = 0; b < loads.size(); ++b) {
    std::vector<uint32_t> points;
    for (const auto& u : p.usages())
      if (u.budget == b) points.push_back(u.first), points.push_back(u.end);
    std::ranges::sort(points);
    points.erase(std::unique(points.begin(), points.end()), points.end());
    for (const uint32_t t : points) loads[b].emplace_back(t, least_load(p, b, t));
  }
  for (const auto& u : p.usages()) {
    const double limit = p.budget_limits()[u.budget], room = limit + 1e-12 * std::abs(limit);
    const double least = *std::ranges::min_element(p.usage_of(u));
    for (const auto& [t, load] : loads[u.budget])
      if (u.first <= t && t < u.end)
        for (uint32_t i = 0; i < p.num_labels(u.variable); ++i)
          if (load - least + p.usage_of(u)[i] > room) possible[u.variable][i] = false;
  }
  return possible;
}

void drop_without_partner(const PlacementProblem& p, Flags& possible) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& e : p.edges()) {
      std::vector<bool> a(p.num_labels(e.a)), b(p.num_labels(e.b));
      for (uint32_t i = 0; i < a.size(); ++i)
        for (uint32_t j = 0; j < b.size(); ++j)
          if (possible[e.a][i] && possible[e.b][j] && p.edge_cost(e, i, j) != kForbidden)
            a[i] = b[j] = true;
      changed |= a != possible[e.a] || b != possible[e.b];
      possible[e.a] = a;
      possible[e.b] = b;
    }
  }
}

// The bound that a certificate proves.
double checked_bound(const PlacementProblem& p, const Certificate& c) {
  Flags possible = possible_labels(p);
  drop_without_partner(p, possible);
  std::vector<std::vector<double>> theta;
  for (uint32_t v = 0; v < p.num_variables(); ++v)
    theta.emplace_back(p.unary(v).begin(), p.unary(v).end());
  double bound = 0;
  for (const BudgetPrice& price : c.prices) {
    EXPECT_GE(price.price, 0);
    bound -= price.price * p.budget_limits()[price.budget];
    for (const auto& u : p.usages())
      if (u.budget == price.budget && u.first <= price.point && price.point < u.end)
        for (uint32_t i = 0; i < p.num_labels(u.variable); ++i)
          theta[u.variable][i] += price.price * p.usage_of(u)[i];
  }
  const double* message = c.messages.data();
  for (const auto& e : p.edges()) {
    const double* to_b = message + p.num_labels(e.a);
    double least = kForbidden;
    for (uint32_t i = 0; i < p.num_labels(e.a); ++i)
      for (uint32_t j = 0; j < p.num_labels(e.b); ++j)
        if (possible[e.a][i] && possible[e.b][j])
          least = std::min(least, p.edge_cost(e, i, j) - message[i] - to_b[j]);
    bound += least;
    for (uint32_t i = 0; i < p.num_labels(e.a); ++i) theta[e.a][i] += message[i];
    for (uint32_t j = 0; j < p.num_labels(e.b); ++j) theta[e.b][j] += to_b[j];
    message = to_b + p.num_labels(e.b);
  }
  EXPECT_EQ(message, c.messages.data() + c.messages.size());
  for (uint32_t v = 0; v < p.num_variables(); ++v) {
    double least = kForbidden;
    for (uint32_t i = 0; i < p.num_labels(v); ++i)
      if (possible[v][i]) least = std::min(least, theta[v][i]);
    bound += least;
  }
  return bound;
}

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
