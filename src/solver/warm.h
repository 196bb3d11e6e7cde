// Warm start: reuses the result of a nearly identical problem, for instance when a pin is added or
// a budget moves.
//
// A sweep gives every label a floor: a lower bound on the cost of any labelling with it. Floors
// remain valid if labels are forbidden or become more expensive, edges are added or budgets are
// tightened. If labels became cheaper, floors minus the sum of the decreases are valid. The next
// solve therefore searches only labels with low floors, a few thousand out of a hundred thousand;
// its result is optimal if it costs less than the floors of all other labels.
#pragma once
#include <memory>
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

class WarmMessages;

struct WarmStart {
  PlacementProblem problem;      // the problem that was solved; shares its tables
  std::vector<uint32_t> choice;  // the answer
  // By label, concatenated by variable: no labelling with it costs less; −∞: unknown. Empty: none
  // are known.
  std::vector<double> floors;
  std::vector<BudgetPrice> prices;
  // The messages at these prices, for a huge problem; null: none are kept. They are used even if
  // the rest does not fit, for instance because variables were added.
  std::shared_ptr<const WarmMessages> messages = nullptr;
};

// Whether `warm` is consistent and belongs to a problem with the same numbers of variables and
// labels. Does not compare costs.
bool fits(const WarmStart& warm, const PlacementProblem& problem);
// The floors as valid for this problem, which `warm` must fit; empty: they are not valid.
std::vector<double> floors_for(const WarmStart& warm, const PlacementProblem& problem);

}  // namespace shw::solver
