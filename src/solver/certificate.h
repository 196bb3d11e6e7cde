// A lower bound that anyone can verify. Given prices for the budgets and messages for the edges, it
// is a sum of minima over single variables and single edges:
//
//   bound = Σ_v min_i θ_v(i) + Σ_e min_ij θ_e(i, j) − Σ price · limit,  where
//   θ_v(i) = unary_v(i) + Σ price · usage_v(i) over the points where v is live
//                       + Σ_e message_e,v(i),
//   θ_e(i, j) = matrix_e(i, j) − message_e,a(i) − message_e,b(j).
//
// In every labelling the messages cancel, and the priced usage is at most the priced limit. So no
// labelling within the budgets costs less than the bound. Labels that no feasible labelling can
// have may be omitted: forbidden ones, ones that exceed a budget even if all other variables use
// their minimum, and, repeatedly, ones that then have no allowed pair with some neighbour.
#pragma once
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

struct Certificate {
  double bound = -kForbidden;
  std::vector<BudgetPrice> prices;
  std::vector<double> messages;               // by edge: for the labels of a, then for those of b
  std::vector<std::vector<uint32_t>> labels;  // by variable: the labels that were not omitted
};

// The priced usage of each label, concatenated by variable.
std::vector<double> priced_usages(const PlacementProblem& problem,
                                  std::span<const BudgetPrice> prices);

// Sweeps until the bound stalls, at most `sweeps` times or until the deadline. FAILED_PRECONDITION:
// some variable has no label left.
Result<Certificate> certify(const PlacementProblem& problem, std::span<const BudgetPrice> prices,
                            uint32_t sweeps, Monitor& monitor, const Deadline& deadline = {});

}  // namespace shw::solver
