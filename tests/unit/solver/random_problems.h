// Small random problems with integer costs, so that results can be compared without a tolerance.
// They have the features of real problems: forbidden labels and pairs, parallel edges, edges from a
// variable to itself, and matrices that edges share in either orientation.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "solver/problem.h"
#include "unit/solver/brute_force.h"

namespace shw::solver::testing {

struct RandomShape {
  uint32_t min_variables = 1, max_variables = 8;
  uint32_t max_labels = 4;
  double edges_per_variable = 1.5;
  double forbidden = 0.1;  // probability for pairs; half of it for labels
  int max_cost = 20;
};

inline PlacementProblem random_problem(uint32_t seed, const RandomShape& shape = {}) {
  std::mt19937 random(seed);
  // Not std::uniform_int_distribution: its values differ between standard libraries.
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const auto cost = [&](double forbidden) {
    return random() < forbidden * 4294967296.0 ? kForbidden
                                               : below(static_cast<uint32_t>(shape.max_cost) + 1);
  };
  PlacementProblem problem;
  const uint32_t n = shape.min_variables + below(shape.max_variables - shape.min_variables + 1);
  for (uint32_t v = 0; v < n; ++v) {
    std::vector<double> unary(1 + below(shape.max_labels));
    for (double& c : unary) c = cost(shape.forbidden / 2);
    problem.add_variable(unary);
  }
  const auto edges = static_cast<uint32_t>(shape.edges_per_variable * n);
  for (uint32_t e = 0; e < edges; ++e) {
    const uint32_t a = below(n), b = below(n);
    const bool transposed = a != b && below(2) == 1;
    const uint32_t rows = problem.num_labels(transposed ? b : a),
                   cols = problem.num_labels(transposed ? a : b);
    uint32_t matrix = UINT32_MAX;
    if (below(3) == 0)  // reuse an existing matrix
      for (uint32_t m = 0; m < problem.matrices().size(); ++m)
        if (problem.matrices()[m].rows == rows && problem.matrices()[m].cols == cols) matrix = m;
    if (matrix == UINT32_MAX) {
      std::vector<double> costs(size_t{rows} * cols);
      for (double& c : costs) c = cost(shape.forbidden);
      if (rows == cols && below(3) == 0)  // cost 0 where both labels agree
        for (uint32_t i = 0; i < rows; ++i) costs[size_t{i} * cols + i] = 0;
      matrix = problem.add_matrix(rows, cols, costs);
    }
    problem.add_edge(a, b, matrix, transposed);
  }
  return problem;
}

// Adds a variable beside up to `count` edges, as placement/memory_copies.cc does. The variable
// states which of two layouts of the first end, if any, is copied for the second end. Both ends
// determine its value, and for each layout only one of its labels costs something. `max_cost`
// limits that cost. Returns the number of variables added.
inline uint32_t add_copies(PlacementProblem& problem, uint32_t seed, uint32_t count,
                           int max_cost = 0) {
  std::mt19937 random(seed);
  const auto edges =
      std::vector<PlacementProblem::Edge>(problem.edges().begin(), problem.edges().end());
  uint32_t added = 0;
  for (const auto& e : edges) {
    if (added == count) break;
    if (e.a == e.b || random() % 3 == 0) continue;
    std::vector<double> unary(5, 0.0);
    for (const uint32_t copied : {0u, 2u})
      unary[copied] = static_cast<double>(random() % (static_cast<uint32_t>(max_cost) + 1));
    const uint32_t rows = problem.num_labels(e.a), cols = problem.num_labels(e.b);
    std::vector<double> payer(size_t{rows} * 5, kForbidden), other(size_t{cols} * 5, 0.0);
    for (uint32_t s = 0; s < rows; ++s) {
      const uint32_t layout = random() % 3;  // layout 2: too small to count
      payer[5 * s + 2 * layout] = 0;
      if (layout < 2) payer[5 * s + 2 * layout + 1] = 0;
    }
    for (uint32_t s = 0; s < cols; ++s) {
      const uint32_t layout = random() % 3;
      for (uint32_t t = 0; t < 2; ++t) other[5 * s + 2 * t + (layout != t)] = kForbidden;
    }
    const uint32_t copy = problem.add_variable(unary);
    problem.add_edge(e.a, copy, problem.add_matrix(rows, 5, payer));
    problem.add_edge(e.b, copy, problem.add_matrix(cols, 5, other));
    ++added;
  }
  return added;
}

// Adds `count` budgets with integer usages, over one point or several. Some limit the usage from
// below. The share of labellings that fit varies from none to most.
inline void add_random_budgets(PlacementProblem& problem, uint32_t seed, uint32_t count,
                               uint32_t points) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (uint32_t b = 0; b < count; ++b) {
    struct Use {
      uint32_t variable, first, end;
      std::vector<double> usage;
    };
    std::vector<Use> uses;
    double least = 0, most = 0;
    for (uint32_t v = 0; v < problem.num_variables(); ++v) {
      if (below(4) == 0) continue;
      const uint32_t first = below(points);
      Use use{v, first, first + below(points - first + 1), {}};
      for (uint32_t i = 0; i < problem.num_labels(v); ++i) use.usage.push_back(below(10));
      if (points == 1) use.end = 1;
      least += *std::ranges::min_element(use.usage);
      most += *std::ranges::max_element(use.usage);
      uses.push_back(std::move(use));
    }
    const bool from_below = points == 1 && below(4) == 0;
    const double share = static_cast<double>(below(70)) / 100 / (points > 1 ? 2 : 1);
    const double limit = std::floor(least + share * (most - least)) - (below(8) == 0 ? 2 : 0);
    const uint32_t budget = problem.add_budget(from_below ? -limit : limit);
    for (Use& use : uses) {
      if (from_below)
        for (double& x : use.usage) x = -x;
      problem.add_usage(budget, use.variable, use.first, use.end, use.usage);
    }
  }
}

inline PlacementProblem copy_of(const PlacementProblem& problem) {
  PlacementProblem copy;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) copy.add_variable(problem.unary(v));
  for (const auto& m : problem.matrices())
    copy.add_matrix(m.rows, m.cols, {m.costs, size_t{m.rows} * m.cols});
  for (const auto& e : problem.edges()) copy.add_edge(e.a, e.b, e.matrix, e.transposed != 0);
  return copy;
}

// The cost of the cheapest labelling in which the variable has this label.
inline double cheapest_with(const PlacementProblem& problem, uint32_t variable, uint32_t label) {
  PlacementProblem pinned = copy_of(problem);
  std::vector<double> pin(problem.num_labels(variable), kForbidden);
  pin[label] = 0;
  pinned.add_unary(variable, pin);
  const auto best = solve_brute_force(pinned);
  return best.ok() ? best->cost : kForbidden;
}

}  // namespace shw::solver::testing
