// Lagrangian relaxation of the budgets: rows are priced instead of enforced, which gives a lower
// bound.
//
// For any prices λ ≥ 0 of the rows, no labelling within the budgets costs less than
//   L(λ) = min_x  cost(x) + Σ_v λ · excess_v(x_v)  −  λ · slack.
// The minimum is over a problem without budgets, which TRW-S sweeps bound from below. A step moves
// the prices (up if the last sweep's labelling overloads a row, down if it leaves slack) and sweeps
// once. Messages are kept when prices move, so both converge together. The direction is a running
// average over labellings, as in the volume algorithm (Barahona & Anbil 2000). Averages cycle when
// the labellings differ much but agree on which rows are full; a bundle (price_bundle.h) makes
// progress there.
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
  // All must outlive this. `prices`: initial prices of the rows.
  Relaxation(const PlacementProblem& problem, const BudgetRows& rows, std::vector<double> prices,
             Watch& watch);

  // One sweep at the current prices. No labelling within the budgets costs less than the result.
  // is_rounded: see Trws::sweep_rounded().
  Result<double> sweep(bool is_rounded = false);
  // Moves the prices and sweeps. `cost`: of the incumbent, or an estimate of the optimum.
  Status step(double cost);
  // The same with the bundle: moves to prices where every cut reaches a level between the bound and
  // `cost`. False: no such prices exist, and the bound will not rise much further.
  Result<bool> bundle_step(double cost);
  // Consecutive bundle steps in which no cut was below the level at the current prices.
  uint32_t idle_bundle_steps() const { return idle_bundle_steps_; }
  // Adds a labelling and its cost without prices as a cut for bundle_step().
  void add_cut(std::span<const uint32_t> choice, double cost);
  // Returns to the best prices, so that trws() reflects them.
  Status settle();

  double bound() const { return bound_; }
  std::span<const double> best_prices() const { return best_prices_; }
  bool has_prices() const { return risen_; }
  Trws& trws() { return trws_; }
  // The difference between costs in trws() and the bound: λ · slack.
  double offset() const { return offset_; }
  // The sub-problem of the labels that, according to trws(), may be in a labelling cheaper than
  // `limit`. It includes the messages (Trws::restricted) but not the prices.
  Result<RestrictedProblem> restricted(double limit) const;
  std::span<const double> label_prices() const { return label_prices_; }
  // The length of a step as a fraction of the gap to the incumbent. Adapted by every step; a
  // sub-problem starts with its parent's.
  double step_fraction() const { return step_fraction_; }
  void set_step_fraction(double step_fraction) { step_fraction_ = step_fraction; }
  // How often each label occurred in recent labellings; concatenated by variable.
  std::span<const float> frequency() const { return frequency_; }

  // Moves to these prices; call sweep() next.
  void set_prices(std::span<const double> prices);

 private:
  void observe();
  Status sweep_or_step(double cost, double level);

  const PlacementProblem& problem_;
  const BudgetRows& rows_;
  Trws trws_;
  std::vector<double> best_prices_, prices_, label_prices_, overload_, direction_;
  std::vector<float> frequency_;
  PriceBundle bundle_;
  std::vector<double> centre_;  // of the projections
  uint32_t idle_bundle_steps_ = 0;
  bool sweeps_again_ = true;           // once more at the same prices, if all cuts reach the level
  double ceiling_ = kForbidden;        // upper bound of L(λ), according to the bundle
  std::vector<uint32_t> last_choice_;  // the labelling last added to the averages
  double bound_ = -kForbidden, last_ = -kForbidden, offset_ = 0;
  double step_fraction_ = 0.3, scale_ = 0;
  uint32_t failures_ = 0, observed_ = 0;
  bool risen_ =
      false;  // the bound has risen since the start; until then every failed step shortens the next
};

}  // namespace shw::solver
