// Exact minimisation by bucket elimination (Dechter 1999): variables are eliminated one by one,
// each leaving a table over its neighbours. Time and memory are exponential in the width of the
// order; the plan states them in advance.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

inline constexpr uint64_t kUnlimited = UINT64_MAX;

struct EliminationPlan {
  std::vector<uint32_t> order;
  uint64_t table_bytes = 0;  // of all tables, kept until the labelling is derived
  uint64_t cells = 0;        // additions, a measure of time
};

// A greedy order: the variable with the smallest table comes next. nullopt: elimination would
// exceed the limits.
Result<std::optional<EliminationPlan>> plan_elimination(const PlacementProblem& problem,
                                                        uint64_t max_table_bytes,
                                                        uint64_t max_cells, Watch& watch);

struct Eliminated {
  std::vector<uint32_t> choice;  // empty: the time limit expired
  double bound = 0;              // no labelling costs less
  // The variable whose copies disagree most in `choice`; none: the choice is optimal.
  std::optional<uint32_t> disputed;
};

// If a table would have more than `max_table_cells` cells, the variable is copied: each copy takes
// some of the tables (mini-buckets: Dechter & Rish 2003), so the minimum becomes a lower bound.
// Without this limit (kUnlimited) the choice is a labelling of minimum cost (infinite if none is
// allowed).
Result<Eliminated> eliminate(const PlacementProblem& problem, const EliminationPlan& plan,
                             uint64_t max_table_cells, Watch& watch);

}  // namespace shw::solver
