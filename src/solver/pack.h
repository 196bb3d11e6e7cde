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
  const std::vector<uint32_t>& choice() const { return choice_; }

 private:
  void reset();
  bool fits(uint32_t v, uint32_t from, uint32_t to) const;  // kNone: from the least excess
  void move(uint32_t v, uint32_t from, uint32_t to);

  static constexpr uint32_t kNone = UINT32_MAX;
  const PlacementProblem& problem_;
  const BudgetRows& rows_;
  Adjacency adjacency_;
  RangeSlack slack_;
  std::vector<uint32_t> choice_;
};

}  // namespace shw::solver
