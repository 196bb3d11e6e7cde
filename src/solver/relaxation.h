// Budgets priced instead of kept: a bound for a problem with budget rows.
//
// For any prices λ ≥ 0 of the rows, no labelling within the budgets is cheaper than
//   L(λ) = min_x  cost(x) + Σ_v λ · excess_v(x_v)  −  λ · slack,
// and what is minimised there is a problem without budgets, which sweeps of TRW-S bound from below.
// A step moves the prices (up where the labelling of the last sweep overloads a row, down where it
// leaves room) and sweeps once; messages stay when prices move, so both converge together. The
// direction is an average over the last labellings, as in the volume algorithm (Barahona & Anbil
// 2000). An average circles where labellings differ much and agree on where rows are full: there
// a bundle (price_bundle.h) goes straight on.
#pragma once
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/price_bundle.h"
#include "solver/trws.h"
#include "solver/watch.h"

namespace shw::solver {

class Relaxation {
 public:
  // All must outlive this. `prices`: of the rows, to begin with.
  Relaxation(const PlacementProblem& problem, const BudgetRows& rows, std::vector<double> prices,
             Watch& watch);

  // One sweep at the prices as they are; no labelling within the budgets is cheaper than the
  // result.
  Result<double> sweep();
  // Moves the prices and sweeps. `cost`: of the incumbent, or what it might be.
  Status step(double cost);
  // The same, to where every labelling shown costs part of the way from the bound up to `cost`.
  // False: there are no such prices, and the bound will not rise by much.
  Result<bool> bundle_step(double cost);
  // How often in a row it knew of no labelling that is cheap where it stood.
  uint32_t silent() const { return silent_; }
  // A labelling and what it costs without prices, for bundle_step().
  void show(std::span<const uint32_t> choice, double cost);
  // Goes back to the best prices, so that trws() shows them.
  Status settle();

  double bound() const { return bound_; }
  std::span<const double> best_prices() const { return best_prices_; }
  bool has_prices() const { return risen_; }
  Trws& trws() { return trws_; }
  // What a labelling costs in trws() less what the bound counts: λ · slack.
  double offset() const { return offset_; }
  // What is left of the problem when only labels stay that trws() says may be in a labelling
  // cheaper than `limit`: messages worked in (Trws::restricted), prices not.
  Result<RestrictedProblem> restricted(double limit) const;
  std::span<const double> label_prices() const { return label_prices_; }
  // How far steps aim, of the way to the incumbent's cost; steps learn it, and may begin with it.
  double reach() const { return reach_; }
  void set_reach(double reach) { reach_ = reach; }
  // How often, lately, each label was in the labelling of a sweep; for all labels in a row.
  std::span<const float> frequency() const { return frequency_; }

 private:
  void set_prices(std::span<const double> prices);
  void observe();
  Status sweep_or_step(double cost, double level);

  const PlacementProblem& problem_;
  const BudgetRows& rows_;
  Trws trws_;
  std::vector<double> best_prices_, prices_, label_prices_, overload_, direction_;
  std::vector<float> frequency_;
  PriceBundle bundle_;
  std::vector<double> centre_;  // of its projections
  uint32_t silent_ = 0;
  bool sweeps_again_ = true;     // at the same prices, if all labellings are dear there
  double ceiling_ = kForbidden;  // the bound will stay below, as far as the bundle knows
  double bound_ = -kForbidden, last_ = -kForbidden, offset_ = 0;
  double reach_ = 0.3, scale_ = 0;
  uint32_t failures_ = 0, observed_ = 0;
  bool risen_ = false;  // from prices of zero: till then, each step that fails shortens the next
};

}  // namespace shw::solver
