// Finds a labelling in the presence of forbidden pairs. Variables are labelled in order, and each
// choice is propagated to the neighbours before the next. Slower than the decoding inside a sweep;
// used when the latter hits a forbidden pair.
#pragma once
#include <cstdint>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/problem.h"
#include "solver/trws.h"

namespace shw::solver {

// Chooses greedily among the remaining labels of `trws`, which sweeps `problem`. The cost of a
// label combines the labels of earlier variables with the messages from later ones. Tables are not
// copied. Empty: it ran into a contradiction, which proves nothing. With rows, each choice also
// leaves enough slack in every row for the minimum usage of all other variables.
Result<std::vector<uint32_t>> decode_with_propagation(const PlacementProblem& problem, Trws& trws,
                                                      const BudgetRows* rows = nullptr);

// Coordinate descent: moves single variables to their best label until nothing improves.
void improve_by_coordinates(const PlacementProblem& problem, std::vector<uint32_t>& choice);

}  // namespace shw::solver
