// The cost of a labelling, straight from the problem. Every answer of the solver passes through
// here, so nothing in this file may come from the rest of the folder.
#include "solver/problem.h"

namespace shw::solver {

double evaluate(const PlacementProblem& problem, std::span<const uint32_t> choice) {
  if (choice.size() != problem.num_variables()) return kForbidden;
  // Neumaier's compensated sum: ten thousand terms, and the result is compared at 1e-9.
  double sum = 0, lost = 0;
  const auto add = [&](double x) {
    const double t = sum + x;
    lost += (sum < 0 ? -sum : sum) >= (x < 0 ? -x : x) ? (sum - t) + x : (x - t) + sum;
    sum = t;
  };
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    if (choice[v] >= problem.num_labels(v)) return kForbidden;
    const double c = problem.unary(v)[choice[v]];
    if (c == kForbidden) return kForbidden;
    add(c);
  }
  for (const PlacementProblem::Edge& e : problem.edges()) {
    const double c = problem.edge_cost(e, choice[e.a], choice[e.b]);
    if (c == kForbidden) return kForbidden;
    add(c);
  }
  return sum + lost;
}

}  // namespace shw::solver
