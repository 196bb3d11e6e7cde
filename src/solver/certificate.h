// A bound that anyone can check: prices of budgets and messages, with which the bound is a sum of
// minima over single variables and single edges.
//
//   bound = Σ_v min_i θ_v(i) + Σ_e min_ij θ_e(i, j) − Σ price · limit,  where
//   θ_v(i) = unary_v(i) + Σ price · usage_v(i) over the points where v is live
//                       + Σ_e message_e,v(i),
//   θ_e(i, j) = matrix_e(i, j) − message_e,a(i) − message_e,b(j).
// In every labelling the messages cancel, and prices are for what is within the limit: so no
// labelling within the budgets is cheaper. Labels may be left out that no labelling can have: those
// that are forbidden, that fit in no budget beside the least of all others, or that then have no
// allowed pair with some neighbour, until nothing changes.
#pragma once
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

struct Certificate {
  double bound = -kForbidden;
  std::vector<BudgetPrice> prices;
  std::vector<double> messages;  // edge by edge: over the labels of a, then over those of b
  std::vector<std::vector<uint32_t>> labels;  // by variable: those that were not left out
};

// What the labels pay for what they use, all of the problem's in a row.
std::vector<double> priced_usages(const PlacementProblem& problem,
                                  std::span<const BudgetPrice> prices);

// Sweeps until the bound stalls, `sweeps` times or until the deadline at most. FAILED_PRECONDITION:
// no label is left to some variable.
Result<Certificate> certify(const PlacementProblem& problem, std::span<const BudgetPrice> prices,
                            uint32_t sweeps, Monitor& monitor, const Deadline& deadline = {});

}  // namespace shw::solver
