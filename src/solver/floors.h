// What a labelling costs at least if one variable has a given label: a certificate, read with that
// variable held.
//
// Worked into the problem, the messages of a certificate leave tables that are at no label and no
// pair below what the bound counts for them. So any part of them may be solved exactly, and the
// rest counted at its minima, and the sum is a bound still. Here the part is a tree that spans the
// problem from the held variable: for each of its labels the floor is what the tree costs at least
// with it, and the minima of the edges outside the tree.
#pragma once
#include <vector>

#include "solver/certificate.h"
#include "solver/problem.h"

namespace shw::solver {

// By label of `variable`; kForbidden: no labelling within the budgets has it. The certificate must
// be the problem's.
Result<std::vector<double>> label_floors(const PlacementProblem& problem,
                                         const Certificate& certificate, uint32_t variable,
                                         const Monitor& monitor);

}  // namespace shw::solver
