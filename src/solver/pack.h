// Finds labellings within the budgets, guided by the prices of a relaxation.
#pragma once
#include <cstdint>
#include <vector>

#include "solver/adjacency.h"
#include "solver/budget_rows.h"
#include "solver/range_slack.h"
#include "solver/trws.h"

namespace shw::solver {

class Packer {
 public:
  // Both must outlive this.
  Packer(const PlacementProblem& problem, const BudgetRows& rows);

  // Labels the variables in sweep order, each with the cheapest label that fits the slack left by
  // those before it. False: no labelling was found because of a forbidden pair; this proves
  // nothing.
  bool pack(Trws& trws, bool forward);
  // Moves single variables to cheaper labels that fit, until nothing improves.
  Status improve(Watch& watch);
  // Adopts those parts of another labelling that reduce the cost and fit; the other labelling may
  // violate budgets. The variables in which both differ form connected components. Each can be
  // adopted alone, with a change of cost that is known in advance. `prices`, by label, rank them by
  // the budget that they consume. The cost never rises.
  Status combine(std::span<const uint32_t> other, std::span<const double> prices, Watch& watch);
  // Replaces `other` by the cheaper of both labellings at these prices, component by component;
  // budgets may be violated. Returns its cost without prices.
  double blend(std::span<uint32_t> other, std::span<const double> prices) const;
  double cost(std::span<const uint32_t> choice) const;
  // The current labelling. keep() remembers it if it is the cheapest so far, and back() returns to
  // the remembered one.
  const std::vector<uint32_t>& choice() const { return choice_; }
  bool keep();  // true: cheaper than the one kept before
  bool back();
  double best_cost() const { return best_cost_; }  // kForbidden: none was kept
  const std::vector<uint32_t>& best() const { return best_; }

 private:
  struct Part {
    uint32_t first, end;   // into the variables
    double cost, reduced;  // change of cost if adopted; the same plus the priced change in usage
    bool taken = false;
  };
  std::vector<Part> parts(std::span<const uint32_t> other, std::span<const double> prices,
                          std::vector<uint32_t>& variables) const;
  double cost() const { return cost(choice_); }
  double difference(uint32_t v, std::span<const uint32_t> other) const;
  bool take(std::span<const uint32_t> variables, std::span<uint32_t> other);
  void reset();
  bool fits(uint32_t v, uint32_t from, uint32_t to) const;  // from == kNone: from the minimum usage
  void move(uint32_t v, uint32_t from, uint32_t to);

  static constexpr uint32_t kNone = UINT32_MAX;
  const PlacementProblem& problem_;
  const BudgetRows& rows_;
  Adjacency adjacency_;
  RangeSlack slack_;
  std::vector<uint32_t> choice_, best_;
  double best_cost_ = kForbidden;
};

}  // namespace shw::solver
