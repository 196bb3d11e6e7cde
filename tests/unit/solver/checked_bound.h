// Computes the bound of a certificate. It is independent of the solver: it uses only the problem
// and the rules in certificate.h.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "solver/certificate.h"

namespace shw::solver::testing {

using Flags = std::vector<std::vector<bool>>;  // by variable and label

// The least that all variables in use at `point` of a budget consume together.
inline double least_load(const PlacementProblem& p, uint32_t budget, uint32_t point) {
  double load = 0;
  for (const auto& u : p.usages())
    if (u.budget == budget && u.first <= point && point < u.end)
      load += *std::ranges::min_element(p.usage_of(u));
  return load;
}

// Labels that are allowed and fit into the budgets. A label fits if its usage plus the least usage
// of all other variables stays within the limit, at every point where a usage begins or ends.
inline Flags possible_labels(const PlacementProblem& p) {
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

inline void drop_without_partner(const PlacementProblem& p, Flags& possible) {
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

// The bound that a certificate proves. If a label is held, the bound covers only labellings with
// that label. Infinite: no labelling is possible.
struct Held {
  uint32_t variable = UINT32_MAX, label = 0;
};
inline double checked_bound(const PlacementProblem& p, const Certificate& c, Held held = {}) {
  Flags possible = possible_labels(p);
  if (held.variable != UINT32_MAX)
    for (uint32_t i = 0; i < p.num_labels(held.variable); ++i)
      if (i != held.label) possible[held.variable][i] = false;
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

}  // namespace shw::solver::testing
