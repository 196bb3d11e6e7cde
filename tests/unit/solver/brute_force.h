// A trivially correct oracle for small problems: it tries every labelling.
#pragma once
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

inline Result<Solution> solve_brute_force(const PlacementProblem& problem) {
  SHW_RETURN_IF_ERROR(problem.validate());
  constexpr double kMaxLabellings = 1 << 26;
  double labellings = 1;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) labellings *= problem.num_labels(v);
  if (labellings > kMaxLabellings)
    return Status(Code::kResourceExhausted, "too many labellings to try them all");

  Solution best;
  std::vector<uint32_t> choice(problem.num_variables(), 0);
  for (bool more = true; more;) {
    const double cost = evaluate(problem, choice);
    if (cost < best.cost) best.choice = choice, best.cost = cost;
    more = false;  // next labelling: the last variable changes fastest
    for (uint32_t v = problem.num_variables(); v-- > 0 && !more;) {
      more = ++choice[v] < problem.num_labels(v);
      if (!more) choice[v] = 0;
    }
  }
  if (best.cost == kForbidden) return failed_precondition("no labelling has finite cost");
  best.bound = best.cost;
  best.proven = true;
  return best;
}

}  // namespace shw::solver
