// Exact minimisation by bucket elimination (Dechter 1999): variables are eliminated one by one,
// each leaving a table over its neighbours. Exponential in the width of the order; the plan states
// the cost in advance.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

struct EliminationPlan {
  std::vector<uint32_t> order;
  uint64_t table_bytes = 0;  // of all tables together; they are kept until the labels are read off
  uint64_t cells = 0;        // additions, a measure of time
};

// Greedy order, smallest next table first. nullopt: would exceed the limits.
Result<std::optional<EliminationPlan>> plan_elimination(const PlacementProblem& problem,
                                                        uint64_t max_table_bytes,
                                                        uint64_t max_cells, Watch& watch);

// A labelling of minimum cost (infinite if none is allowed); empty if the time limit expired.
Result<std::vector<uint32_t>> eliminate(const PlacementProblem& problem,
                                        const EliminationPlan& plan, Watch& watch);

}  // namespace shw::solver
