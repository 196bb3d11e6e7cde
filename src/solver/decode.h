// Finds a labelling in the presence of forbidden pairs. Variables are labelled in order, and each
// choice is propagated to the neighbours before the next. Slower than the decoding inside a sweep;
// used when that one hits a forbidden pair.
#pragma once
#include <cstdint>
#include <vector>

#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

// Greedy on the costs of `problem`, which should be a reparametrisation (Trws::restricted) so that
// local costs anticipate the rest. Empty: ran into a contradiction, which proves nothing.
Result<std::vector<uint32_t>> decode_with_propagation(const PlacementProblem& problem,
                                                      Watch& watch);

// Coordinate descent: moves single variables to their best label until nothing improves.
void improve_by_coordinates(const PlacementProblem& problem, std::vector<uint32_t>& choice);

}  // namespace shw::solver
