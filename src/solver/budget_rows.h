// The budgets of a problem as a minimal list of rows: one for each point whose limit can be
// violated first.
//
// Usage is constant between two events (a variable becomes live or dead), so each such interval is
// one row. If no usage is negative, an interval whose live variables are all live in a neighbouring
// one is redundant. The minimum usage of each variable is subtracted from the limit. The remainder
// is the row's slack; a label's usage above that minimum is its excess:
//   Σ_v excess_v(x_v) ≤ slack   in every row, over the variables live there.
// Rows that no labelling can violate are dropped.
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
    uint64_t offset;  // into excess_
  };

  struct Point {
    uint32_t budget, point;
  };

  BudgetRows() = default;
  explicit BudgetRows(const PlacementProblem& problem);
  // The rows that remain after presolving a part of the problem. `label`, unless empty, maps each
  // label of `source` to a label of the problem that these rows belong to.
  BudgetRows restricted(const PlacementProblem& source, std::span<const uint32_t> label,
                        const PlacementProblem& presolved, const Postsolve& undo) const;

  // Adds a row: at most `limit` of the members take labels that count. `origin`: the result of
  // origin() for it. The row's unit is the largest excess of a member, so that the loads of rows
  // remain comparable.
  struct Member {
    uint32_t variable;
    std::vector<uint8_t> counts;  // by label
  };
  BudgetRows with_limit(const PlacementProblem& problem, std::span<const Member> members,
                        uint32_t limit, uint32_t origin) const;

  bool broken() const { return broken_; }  // no labelling satisfies the rows
  size_t size() const { return slack_.size(); }
  double slack(size_t row) const { return slack_[row]; }
  double limit(size_t row) const { return limit_[row]; }
  // Index of the row's point in points() of the root.
  uint32_t origin(size_t row) const { return origin_[row]; }
  // The points of all rows considered, including dropped ones. Not available after restricted().
  std::span<const Point> points() const { return points_; }
  std::span<const Use> uses() const { return uses_; }  // by variable, ascending
  std::span<const Use> uses(uint32_t v) const {
    return {uses_.data() + first_use_[v], first_use_[v + 1] - first_use_[v]};
  }
  const double* excess(const Use& use) const { return excess_.data() + use.offset; }
  std::vector<uint8_t> budgeted() const;  // a flag per variable: it has a use

  // A flag per label: it fits into every row if all other variables use their minimum.
  std::vector<uint8_t> fitting(const PlacementProblem& problem) const;

  // Σ_rows price · excess for every label of the problem, concatenated by variable.
  void price_labels(const PlacementProblem& problem, std::span<const double> prices,
                    std::span<double> by_label) const;
  // load − slack of every row.
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
