// Closes a part by treating its most expensive rows exactly (fronts.h).
//
// The price of every other row is added to the exact row with which it shares the most load: if
// memory is short at several neighbouring points, one row represents all of them. If the answer
// satisfies all rows, it is the optimum of the part. Otherwise the row that it exceeds most is
// treated exactly as well.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "solver/budget_close.h"
#include "solver/fronts.h"
#include "solver/parameters.h"

namespace shw::solver {
namespace {

using namespace parameters::fronts;

// The rows whose prices matter most.
std::vector<size_t> dearest_rows(const BudgetRows& rows, std::span<const double> prices) {
  std::vector<size_t> dear;
  for (size_t r = 0; r < rows.size(); ++r)
    if (prices[r] > 0) dear.push_back(r);
  std::ranges::stable_sort(dear, std::ranges::greater(),
                           [&](size_t r) { return prices[r] * rows.slack(r); });
  if (dear.size() > kMaxExactRows) dear.resize(kMaxExactRows);
  return dear;
}

// The load that both rows have in common: the sum of the largest excess of each use that is in
// both.
double shared_load(const PlacementProblem& problem, const BudgetRows& rows, size_t a, size_t b) {
  double sum = 0;
  for (const BudgetRows::Use& u : rows.uses()) {
    if (std::min(a, b) < u.first_row || std::max(a, b) >= u.end_row) continue;
    const double* excess = rows.excess(u);
    sum += *std::max_element(excess, excess + problem.num_labels(u.variable));
  }
  return sum;
}

// Moves the prices of other rows to the exact ones. False: the other rows have no prices.
bool concentrate(const PlacementProblem& problem, const BudgetRows& rows,
                 std::span<const size_t> exact, std::vector<double>& prices) {
  bool moves = false;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (prices[r] == 0 || std::ranges::find(exact, r) != exact.end()) continue;
    const size_t to = *std::ranges::max_element(
        exact, {}, [&](size_t e) { return shared_load(problem, rows, r, e); });
    prices[to] += std::exchange(prices[r], 0);
    moves = true;
  }
  return moves;
}

// The row that is exceeded most, relative to its slack.
std::optional<size_t> broken_row(const BudgetRows& rows, std::span<const uint32_t> choice) {
  std::vector<double> over(rows.size());
  rows.overload(choice, over);
  std::optional<size_t> worst;
  double most = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (over[r] <= 1e-9 * std::abs(rows.limit(r))) continue;
    const double share = over[r] / (rows.slack(r) + over[r]);
    if (share > most) most = share, worst = r;
  }
  return worst;
}

}  // namespace

// Raises the bound of a part, and offers the labellings found as incumbents.
Status BudgetCloser::look_at_fronts(Part& part) {
  const PlacementProblem& p = part.stage->problem;
  const BudgetRows& rows = *part.rows;
  if (is_rough_ || rows.size() == 0 || edge_cells(p) >= part.fronts_below ||
      !(search_.cost() - part.bound < kWidestGap * std::abs(part.bound)))
    return {};
  std::vector<double> given;
  for (size_t r = 0; r < rows.size(); ++r) given.push_back(part.prices[rows.origin(r)]);
  std::vector<size_t> exact = dearest_rows(rows, given);
  if (exact.empty()) return {};
  const double bound_before = part.bound;
  std::vector<double> prices = given;
  bool moved = concentrate(p, rows, exact, prices);
  while (part.bound < search_.cutoff()) {
    const double limit = search_.cutoff() - part.stage->constant;
    const uint64_t before = search_.watch().cells();
    const uint64_t allowed = std::max(before - front_cells_, kFreeFrontCells);
    if (allowed <= front_cells_) break;
    SHW_ASSIGN_OR_RETURN(
        const auto answer,
        minimise_within_rows(p, rows, exact, prices, limit,
                             std::min(kMaxFrontCells, allowed - front_cells_), search_.watch()));
    front_cells_ += search_.watch().cells() - before;
    if (answer)
      part.bound =
          std::max(part.bound, std::min(part.stage->constant + answer->bound, search_.cutoff()));
    std::optional<size_t> broken;
    if (answer && !answer->choice.empty()) {
      search_.offer(*part.stage, answer->choice);
      broken = broken_row(rows, answer->choice);
    }
    if (!answer) break;
    if (broken && exact.size() < kMaxExactRows) {
      exact.push_back(*broken);
    } else if (moved) {
      prices = given;
      moved = false;
    } else {
      break;
    }
  }
  if (part.bound - bound_before < kWorthFronts * (search_.cost() - bound_before))
    part.fronts_below = static_cast<uint64_t>(static_cast<double>(edge_cells(p)) / kFewerCells);
  return {};
}

}  // namespace shw::solver
