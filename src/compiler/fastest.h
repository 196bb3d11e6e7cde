// Placements by the simulated time of their programs: --overlap simulated.
//
// Prices add up operations, so they cannot know what a schedule hides. The time of a schedule, on
// the other hand, is no sum over nodes and edges that a solver could minimise exactly. So several
// placements are tried, and the one whose program is the fastest in the simulator is taken:
//
//   cheapest   the one that would be taken without; nothing that is slower is ever taken
//   guessed    the cheapest if gathers of parameters and reductions of gradients cost a half, a
//              quarter, an eighth of their prices
//   recipes    those of recipes/ that apply, each at the lowest price
//   measured   the cheapest if each edge costs the share of its price that the simulator found
//              exposed (exposure.h): first averaged over the rounds so far, then in ever smaller
//              steps around the best
//
// All are solved under the same constraints and go through the same passes. Objective and bound
// remain those of the prices: the bound says nothing of times. Which placements are tried follows
// from the question alone, unless a time limit ends the search.
#pragma once
#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// The placement that a plan is made of: place(), or the fastest found. Failures as of place().
Result<Placed> answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                      Monitor& monitor);
// The same, but does not search for the cause where there is none.
Result<Placed> try_answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                          Monitor& monitor);

}  // namespace shw
