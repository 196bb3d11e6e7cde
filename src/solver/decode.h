// A labelling that respects forbidden pairs: labels are given out in order, each propagated to its
// neighbours before the next is chosen. Slower than the decoding inside a sweep, and used when that
// one runs into a forbidden pair.
#pragma once
#include <cstdint>
#include <vector>

#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

// Greedy on the costs of `problem`, which should be reparametrised (Trws::reparametrized) so that
// they look ahead. Empty when it ended in a contradiction: that proves nothing.
Result<std::vector<uint32_t>> decode_with_propagation(const PlacementProblem& problem,
                                                      Watch& watch);

// Moves single variables to their best label, given the others, until nothing improves.
void improve_by_coordinates(const PlacementProblem& problem, std::vector<uint32_t>& choice);

}  // namespace shw::solver
