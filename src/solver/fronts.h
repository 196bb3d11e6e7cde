// Exact minimisation within a few rows of the budgets, the others priced.
//
// Prices balance a fraction where a whole number of equal layers has to use less. Here variables
// are eliminated (eliminate.h), and each entry of a table is a front: the costs and usages that no
// other is better than in both. Sums of equal layers coincide, so fronts stay short, and what the
// prices prove too expensive is left out. The answer is the optimum if it is within the other rows
// and these have no prices; otherwise it is a bound.
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
  double bound;  // no labelling within the budgets costs less, or all cost `limit`
  std::vector<uint32_t>
      choice;  // a labelling of that cost at the prices; empty: none below `limit`
};

// `exact`: at most kMaxExactRows. `prices`: by row, of those too. `limit`: labellings that cost as
// much are of no interest. nullopt: takes more than `max_cells` of work, or too much memory.
inline constexpr size_t kMaxExactRows = 4;
Result<std::optional<FrontAnswer>> minimise_within_rows(
    const PlacementProblem& problem, const BudgetRows& rows, std::span<const size_t> exact,
    std::span<const double> prices, double limit, uint64_t max_cells, Watch& watch);

}  // namespace shw::solver
