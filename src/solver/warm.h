// From one solve to the next of nearly the same problem: pins come and go, a budget moves, and most
// of what the first solve proved holds for the second.
//
// A sweep gives every label a floor: what a labelling with it costs at least. As long as labels are
// only forbidden, dearer, or held in by more edges and tighter budgets, floors stay true; where
// labels have become cheaper, they are true less the sum of that. So the next solve looks among the
// labels of low floors only, a few thousand of a hundred thousand, and what it finds is the optimum
// if it is cheaper than all other floors.
#pragma once
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

struct WarmStart {
  PlacementProblem problem;      // that was solved; its tables are shared
  std::vector<uint32_t> choice;  // the answer
  // By label, all of the problem's in a row: no labelling with it is cheaper; −∞: not known. Empty:
  // none is known.
  std::vector<double> floors;
  std::vector<BudgetPrice> prices;
};

// Whether it is of a problem with the same numbers of variables and labels, and of one piece; if
// not, it says nothing.
bool fits(const WarmStart& warm, const PlacementProblem& problem);
// The floors as they hold for this problem, which it fits; empty: they do not.
std::vector<double> floors_for(const WarmStart& warm, const PlacementProblem& problem);

}  // namespace shw::solver
