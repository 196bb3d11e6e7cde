// Solves a problem with budgets, restricted to few of its labels, by branch and bound: finds the
// best combination of labellings found so far and of labels that are likely by a relaxation.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

// The order of labels by likelihood: by rank among the labels of their variable, or by marginal
// among all labels. A change of thousands of variables may depend on a single label; that label has
// a high marginal, but a low rank within its variable. If variables have many labels, most are
// never part of a good labelling, whatever their rank.
enum class LikelyBy : uint8_t { kRank, kMarginal };
// A flag per label that selects the most likely `share` of the labels. `marginals`, by label:
// kForbidden: never selected; −kForbidden: always selected, and not counted.
std::vector<uint8_t> likely_labels(const PlacementProblem& problem,
                                   std::span<const double> marginals, double share,
                                   LikelyBy likely_by);

struct Recombined {
  std::vector<uint32_t> choice;  // empty: none was found
  bool closed = false;           // no labelling with these labels is cheaper
  std::vector<double> prices;    // by row; empty: none are known
};
struct RecombineOptions {
  double relative_gap;
  uint64_t max_branch_nodes;
  std::span<const double> prices = {};  // initial prices, by row
  bool is_rough = true;                 // see close_gap_within_budgets()
};

// `allowed`: a flag per label. `choice`: a labelling within the budgets, whose labels are also
// allowed; empty: none is known. A Watch::WorkLimit may end it early.
Result<Recombined> recombine(const PlacementProblem& problem, const BudgetRows& rows,
                             std::span<const uint8_t> allowed, std::span<const uint32_t> choice,
                             const RecombineOptions& how, Watch& watch);

}  // namespace shw::solver
