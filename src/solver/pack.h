// Labellings within the budgets, from a relaxation whose prices guide them.
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

  // Labels the variables in the order of a sweep, each the cheapest that fits what those before it
  // left over. False: a forbidden pair was in the way, which proves nothing.
  bool pack(Trws& trws, bool forth);
  // Moves single variables to a cheaper label that fits, until nothing improves.
  Status improve(Watch& watch);
  // Takes over from another labelling, which may break budgets, what pays and fits. Where the two
  // disagree falls apart into parts with no edge between them, so each can be had alone at a cost
  // known in advance; `prices`, by label, say which are worth their room. Never gets worse.
  Status combine(std::span<const uint32_t> other, std::span<const double> prices, Watch& watch);
  // Part by part whichever is cheaper at these prices, of the other labelling and of this one;
  // budgets may break. Returns its cost, without prices.
  double blend(std::span<uint32_t> other, std::span<const double> prices) const;
  // The labelling so far; keep() remembers the cheapest, and back() returns to it.
  const std::vector<uint32_t>& choice() const { return choice_; }
  bool keep();  // whether it is cheaper than what was kept before
  bool back();
  double best_cost() const { return best_cost_; }  // kForbidden: nothing was kept

 private:
  struct Part {
    uint32_t first, end;   // of the variables
    double cost, reduced;  // of taking it over; with what it adds to budgets, priced
    bool taken = false;
  };
  std::vector<Part> parts(std::span<const uint32_t> other, std::span<const double> prices,
                          std::vector<uint32_t>& variables) const;
  double cost() const { return cost(choice_); }
  double cost(std::span<const uint32_t> choice) const;
  double difference(uint32_t v, std::span<const uint32_t> other) const;
  bool take(std::span<const uint32_t> variables, std::span<uint32_t> other);
  void reset();
  bool fits(uint32_t v, uint32_t from, uint32_t to) const;  // kNone: from the least excess
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
