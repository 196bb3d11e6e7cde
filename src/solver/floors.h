// Lower bounds on the cost of a labelling, given the label of one variable.
//
// The messages of a certificate reparametrise the problem so that every label and pair costs at
// least what the bound charges for it. Any sub-problem may therefore be solved exactly while the
// rest is charged at its minima; the sum is still a bound. Here the sub-problem is a spanning tree
// rooted at the given variable. The floor of a label is the exact cost of the tree with that label,
// plus the minima of the edges outside the tree.
#pragma once
#include <vector>

#include "solver/certificate.h"
#include "solver/problem.h"

namespace shw::solver {

// By label of `variable`; kForbidden: no labelling within the budgets has it. The certificate must
// belong to the problem.
Result<std::vector<double>> label_floors(const PlacementProblem& problem,
                                         const Certificate& certificate, uint32_t variable,
                                         const Monitor& monitor);

// By label of all variables, concatenated, in the time of two calls of label_floors(). One tree
// serves all variables, so a floor may be lower than that of label_floors().
Result<std::vector<double>> all_label_floors(const PlacementProblem& problem,
                                             const Certificate& certificate,
                                             const Monitor& monitor);

}  // namespace shw::solver
