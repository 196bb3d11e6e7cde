// A rough answer to a large problem with budgets: among its likely labels.
//
// Where many labels cost nearly the same, as on a mesh of three small dims, no bound tells which of
// them matter, and a branch and bound sweeps over all of them to the end. A rough answer needs few.
// In turn, the sweeps over all labels tell at given prices which of them are likely, and those few
// are solved, which gives a labelling and better prices. The sweeps also give a bound at each of
// the prices.
#include <algorithm>

#include "solver/budget_close.h"
#include "solver/parameters.h"
#include "solver/recombine.h"
#include "solver/survey.h"

namespace shw::solver {
namespace {

using namespace parameters::budget_likely;

// Those of the lowest min-marginals, with about so many cells.
std::vector<uint8_t> likely_labels(const PlacementProblem& p, const Trws& trws, uint64_t cells) {
  const std::vector<double> marginals = marginals_by_label(p, trws);
  const double limit = likely_limit(p, marginals, cells);
  std::vector<uint8_t> likely;
  for (const double m : marginals) likely.push_back(m <= limit);
  return likely;
}

// Of each variable the label that uses the least, so that something is within the budgets.
void add_least_usage(const PlacementProblem& p, const BudgetRows& rows, const Trws& trws,
                     std::vector<uint8_t>& labels) {
  std::vector<double> usage(labels.size(), 0);
  for (const BudgetRows::Use& use : rows.uses())
    for (uint32_t i = 0; i < p.num_labels(use.variable); ++i)
      usage[p.first_label(use.variable) + i] +=
          rows.excess(use)[i] * static_cast<double>(use.end_row - use.first_row);
  for (uint32_t v = 0; v < p.num_variables(); ++v) {
    const auto left = trws.labels(v);
    uint32_t best = 0;
    const auto rank = [&](uint32_t i) {
      return std::pair(usage[p.first_label(v) + left[i]], trws.marginals(v)[i]);
    };
    for (uint32_t i = 1; i < left.size(); ++i)
      if (rank(i) < rank(best)) best = i;
    labels[p.first_label(v) + left[best]] = 1;
  }
}

}  // namespace

struct BudgetCloser::Likely {
  const Part& part;
  std::vector<double> prices;  // by row of the part
  Relaxation relaxation;       // of all labels
  std::vector<uint32_t> best;  // the best labelling so far, as labels of the part
};

// False: there is nothing to gain by going on.
Result<bool> BudgetCloser::solve_likely(Likely& likely) {
  const Part& part = likely.part;
  const PlacementProblem& p = part.stage->problem;
  const SolveOptions& options = search_.options();
  std::vector<uint8_t> labels = likely_labels(p, likely.relaxation.trws(), options.likely_cells);
  add_least_usage(p, *part.rows, likely.relaxation.trws(), labels);
  const double before = search_.cost();
  const Watch::WorkLimit limit(search_.watch(), kWorkPerCell * options.likely_cells);
  SHW_ASSIGN_OR_RETURN(
      Recombined made,
      recombine(p, *part.rows, labels, likely.best,
                {options.relative_gap, options.max_branch_nodes, likely.prices}, search_.watch()));
  if (!made.choice.empty()) {
    likely.best = std::move(made.choice);
    search_.offer(*part.stage, likely.best);
  }
  if (made.prices.empty()) return false;
  likely.prices = std::move(made.prices);
  return before == kForbidden || search_.cost() < (1 - kWorthATurn) * before;
}

Status BudgetCloser::look_among_likely(Part& part) {
  const PlacementProblem& p = part.stage->problem;
  std::vector<double> prices;
  for (size_t r = 0; r < part.rows->size(); ++r)
    prices.push_back(part.prices[part.rows->origin(r)]);
  Likely likely{part, prices, Relaxation(p, *part.rows, prices, search_.watch()), {}};
  Relaxation& relaxation = likely.relaxation;
  for (uint32_t turn = 0; turn < kTurns; ++turn) {
    if (turn > 0) relaxation.set_prices(likely.prices);
    for (uint32_t left = turn == 0 ? kFirstLikelySweeps : kLaterLikelySweeps; left > 0; --left) {
      SHW_RETURN_IF_ERROR(relaxation.sweep(/*is_rounded=*/left > 1).status());
      ++search_.stats().sweeps;
    }
    part.bound = std::max(part.bound, part.stage->constant + relaxation.bound());
    if (part.bound >= search_.cutoff()) break;
    SHW_ASSIGN_OR_RETURN(const bool goes_on, solve_likely(likely));
    if (!goes_on || search_.watch().expired()) break;
  }
  keep_prices(part, relaxation);
  return search_.raise_bound(part.bound);
}

}  // namespace shw::solver
