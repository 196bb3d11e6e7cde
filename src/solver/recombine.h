// Solves a problem with budgets among few of its labels, by a branch and bound: the best
// combination of labellings that were found, and of labels that a relaxation finds likely.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

// Which labels come first: the cheapest of every variable, or the cheapest of all. A single label
// may be all that keeps thousands of other variables from changing: then it costs much by itself,
// but few labels of its variable cost less. Where variables have many labels, most are never worth
// it, whatever their rank.
enum class LikelyBy : uint8_t { kRank, kMarginal };
// A flag per label: this share of the labels. `marginals`, by label: kForbidden: not to be had;
// −kForbidden: always to be had, and not counted.
std::vector<uint8_t> likely_labels(const PlacementProblem& problem,
                                   std::span<const double> marginals, double share,
                                   LikelyBy likely_by);

struct Recombined {
  std::vector<uint32_t> choice;  // empty: none was found
  bool closed = false;           // nothing among these labels is cheaper
  std::vector<double> prices;    // by row; empty: none are known
};
struct RecombineOptions {
  double relative_gap;
  uint64_t max_branch_nodes;
  std::span<const double> prices = {};  // by row: to start at
  bool is_rough = true;                 // see close_gap_within_budgets()
};

// `allowed`: a flag per label. `choice`: a labelling within the budgets; its labels are allowed
// too. Empty: none is known. May be cut short by a Watch::WorkLimit.
Result<Recombined> recombine(const PlacementProblem& problem, const BudgetRows& rows,
                             std::span<const uint8_t> allowed, std::span<const uint32_t> choice,
                             const RecombineOptions& how, Watch& watch);

}  // namespace shw::solver
