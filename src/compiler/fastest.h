// Chooses placements by the simulated time of their programs: --overlap simulated.
//
// The solver minimises a sum of prices over nodes and edges. Such a sum cannot express what a
// schedule hides, and the time of a schedule is not such a sum. So this search tries several
// placements, and takes the one whose program is the fastest in the simulator:
//
//   cheapest   the one that would be taken without; nothing that is slower is ever taken
//   guessed    the cheapest if gathers of parameters and reductions of gradients cost a half, a
//              quarter, an eighth of their prices
//   recipes    those of recipes/ that apply, each at the lowest price
//   measured   the cheapest if each edge costs the share of its price that the simulator found
//              exposed (exposure.h): first averaged over the rounds so far, then in ever smaller
//              steps around the best
//
// Under a memory limit, each placement is solved within it. For a small graph whose recomputation
// depends on the limit (recompute auto), the measured prices come from a search without a limit. So
// the candidates do not depend on the limit, and a higher limit never gives a longer step.
//
// All candidates are solved under the same constraints and go through the same passes. The
// objective and bound of the answer remain in the original prices; the bound does not apply to
// simulated times. The question alone determines which placements are tried, unless a time limit
// ends the search.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// Whether plans of this model are made by this search.
bool takes_fastest(const PreparedModel& model);

struct Fastest {
  Placed placed;               // with its program
  double step_us = 0;          // simulated, each entry as often as it is called
  std::vector<double> scales;  // of edge prices when it was found; 1 for recipes
};
// The fastest placement found that fits the limit (0: no limit). Fails as place() does.
Result<Fastest> fastest(const ConstrainedModel& question, double limit_bytes,
                        const solver::SolveOptions& options, Monitor& monitor);

// A placement within the limit that the caller has already found.
struct KnownPlacement {
  std::string_view recipe;  // that it follows, which is not solved again; empty: none
  Placed placed;
};
// The same for a caller that already has the answer of place(), and perhaps other placements.
Result<Fastest> fastest_of(const Placed& cheapest, std::span<const KnownPlacement> known,
                           const ConstrainedModel& question, double limit_bytes,
                           const solver::SolveOptions& options, Monitor& monitor);

// The placement for a plan, under the memory limit of the constraints: that of fastest() if
// takes_fastest(), otherwise that of place(). Fails as place() does.
Result<Placed> answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                      Monitor& monitor);
// The same, but if there is no placement, does not search for the cause.
Result<Placed> try_answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                          Monitor& monitor);

}  // namespace shw
