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
// Under a memory limit each is solved within it. Of a small graph whose repetition follows the
// limit (recompute auto), prices are those that a search without a limit measures: so nothing that
// is tried depends on the limit, and a higher one never gives a longer step.
//
// All are solved under the same constraints and go through the same passes. Objective and bound
// remain those of the prices: the bound says nothing of times. Which placements are tried follows
// from the question alone, unless a time limit ends the search.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// Whether plans of this model are made so.
bool takes_fastest(const PreparedModel& model);

struct Fastest {
  Placed placed;               // with its program
  double step_us = 0;          // simulated, each entry as often as it is called
  std::vector<double> scales;  // of the prices of edges that it was found at; 1: of a recipe, too
};
// Of the placements that fit the limit; 0: there is none. Failures as of place().
Result<Fastest> fastest(const ConstrainedModel& question, double limit_bytes,
                        const solver::SolveOptions& options, Monitor& monitor);

// A placement that the caller has already, within the limit.
struct KnownPlacement {
  std::string_view recipe;  // whose it is: this one is not solved again; empty: of none
  Placed placed;
};
// The same for a caller that has the answer of place(), and others.
Result<Fastest> fastest_of(const Placed& cheapest, std::span<const KnownPlacement> known,
                           const ConstrainedModel& question, double limit_bytes,
                           const solver::SolveOptions& options, Monitor& monitor);

// The placement that a plan is made of: place(), or the fastest found, under the memory limit that
// the constraints ask for. Failures as of place().
Result<Placed> answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                      Monitor& monitor);
// The same, but does not search for the cause where there is none.
Result<Placed> try_answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                          Monitor& monitor);

}  // namespace shw
