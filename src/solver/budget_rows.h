// The budgets of a problem as few rows: one for each point that can be the first to be broken.
//
// Between two events (a variable begins or ends to count) nothing changes, so such a stretch of
// points is one row. When no usage is negative, a stretch whose live variables are all live in the
// one before or after says nothing new. What every label of a variable uses is taken off the limit;
// what is left of the limit is the row's slack, what a label uses beyond the least its excess:
//   Σ_v excess_v(x_v) ≤ slack   in every row, over the variables live there.
// A row that no labelling can break is dropped.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/presolve.h"
#include "solver/problem.h"

namespace shw::solver {

class BudgetRows {
 public:
  struct Use {
    uint32_t variable;
    uint32_t first_row, end_row;
    uint64_t place;  // of excess()
  };

  struct Point {
    uint32_t budget, point;
  };

  BudgetRows() = default;
  explicit BudgetRows(const PlacementProblem& problem);
  // What is left of the rows for a presolved part of the problem. `label`, when not empty, says
  // which of these labels the presolved problem's source had, at the place of each of its own.
  BudgetRows restricted(const PlacementProblem& source, std::span<const uint32_t> label,
                        const PlacementProblem& presolved, const Postsolve& undo) const;

  bool broken() const { return broken_; }  // by every labelling
  size_t size() const { return slack_.size(); }
  double slack(size_t row) const { return slack_[row]; }
  double limit(size_t row) const { return limit_[row]; }
  // Which of the points that the constructor looked at.
  uint32_t origin(size_t row) const { return origin_[row]; }
  // These points: all rows of the problem, those that were dropped among them. Not of restricted().
  std::span<const Point> points() const { return points_; }
  std::span<const Use> uses() const { return uses_; }  // by variable, ascending
  std::span<const Use> uses(uint32_t v) const {
    return {uses_.data() + first_use_[v], first_use_[v + 1] - first_use_[v]};
  }
  const double* excess(const Use& use) const { return excess_.data() + use.place; }
  std::vector<uint8_t> budgeted() const;  // a flag per variable: it has a use

  // The problem's labels that fit when all other variables use the least they can, as flags.
  std::vector<uint8_t> fitting(const PlacementProblem& problem) const;

  // Σ_rows price · excess, for every label of the problem in a row.
  void price_labels(const PlacementProblem& problem, std::span<const double> prices,
                    std::span<double> by_label) const;
  // load − slack, for every row.
  void overload(std::span<const uint32_t> choice, std::span<double> by_row) const;

 private:
  void normalise(const PlacementProblem& problem);

  std::vector<double> slack_, limit_, excess_;
  std::vector<uint32_t> origin_;
  std::vector<Point> points_;
  std::vector<Use> uses_;
  std::vector<uint32_t> first_use_;
  bool broken_ = false;
};

}  // namespace shw::solver
