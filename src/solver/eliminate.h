// Exact minimisation by bucket elimination (Dechter 1999): variables are minimised out one after
// another, each leaving a table over its neighbours. Exponential in the width of the order; the
// plan says beforehand what it takes.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

struct EliminationPlan {
  std::vector<uint32_t> order;
  uint64_t table_bytes =
      0;               // of all tables together: they are needed until the labels are read off
  uint64_t cells = 0;  // additions, which is the time it takes
};

// Greedy order, smallest next table first. Nothing when it would need more than the budgets.
Result<std::optional<EliminationPlan>> plan_elimination(const PlacementProblem& problem,
                                                        uint64_t max_table_bytes,
                                                        uint64_t max_cells, Watch& watch);

// A labelling of smallest cost (infinite when there is none that is allowed); empty when the time
// limit struck.
Result<std::vector<uint32_t>> eliminate(const PlacementProblem& problem,
                                        const EliminationPlan& plan, Watch& watch);

}  // namespace shw::solver
