// Exact minimisation within a few rows of the budgets; the other rows are priced.
//
// Prices can balance a fraction of equal layers, but in a labelling a whole number of layers must
// use less. Here variables are eliminated (eliminate.h), and each table entry is a front: the pairs
// of cost and usage that no other pair dominates. Sums over equal layers coincide, so fronts stay
// short; items that the prices prove too expensive are dropped. The answer is the optimum if it
// satisfies the other rows and these have zero prices; otherwise it is a bound.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

struct FrontAnswer {
  double bound;  // no labelling within the budgets costs less; `limit` if none is below `limit`
  std::vector<uint32_t>
      choice;  // a labelling of that cost at the prices; empty: none costs less than `limit`
};

// `exact`: at most kMaxExactRows rows. `prices`: of all rows, including exact ones. Labellings that
// cost `limit` or more are ignored. nullopt: needs more than `max_cells` of work, or too much
// memory.
inline constexpr size_t kMaxExactRows = 4;
Result<std::optional<FrontAnswer>> minimise_within_rows(
    const PlacementProblem& problem, const BudgetRows& rows, std::span<const size_t> exact,
    std::span<const double> prices, double limit, uint64_t max_cells, Watch& watch);

}  // namespace shw::solver
