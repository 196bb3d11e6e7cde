// The memory that placements may be planned to take, and what counts towards it: the limit, less
// what earlier programs took in addition.
//
// At first copies do not count. Where a placement exceeds the limit, the copies that are live there
// count from then on. What its program takes above its plan is reserved at the points where the
// program exceeds the limit; where that says nothing, the limit of all points is lowered. If
// nothing fits then, that was too much.
#pragma once
#include <optional>
#include <vector>

#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

class PlannedLimit {
 public:
  static constexpr double kMinStep = 2e-3;  // of the limit

  // The model must outlive it. `planned_bytes`: to begin with; 0: none.
  PlannedLimit(const ConstrainedModel& model, double limit_bytes, double planned_bytes)
      : model_(model), limit_(limit_bytes), now_{planned_bytes, {}, {}} {}

  double bytes() const { return now_.limit; }
  void set(double bytes) { now_.limit = bytes; }
  bool counts_copies() const { return !now_.copies.at.empty(); }
  bool has_reserve() const { return !now_.reserved.empty(); }
  bool is_reduced() const { return now_.limit != limit_ || has_reserve(); }
  void forget_copies() { now_.copies = {}; }
  void forget_reserve() { now_.reserved.clear(); }

  // Whether the placement exceeds the limit where copies do not count yet.
  bool can_count_copies(const Placed& placed) const;
  // From now on they count there. False: they do already.
  bool count_copies(const Placed& placed);
  // From now on, reserves what this program takes above its plan, where it exceeds the limit.
  // False: that is reserved already, or the plan itself exceeds the limit, or the program runs a
  // step at another time than planned, so that the two have little to do with each other.
  bool reserve(const Placed& placed);
  // Lowers the limit of all points, not to where nothing fits.
  void lower(double by);
  // After a round in which nothing fitted: what was reserved for the last placement, whose program
  // took `too_much` bytes, or the last step, was too much. False: there is nothing between.
  bool raise(double too_much);

  // Under this limit. The same as the last time if nothing has changed.
  const solver::PlacementProblem& problem();

 private:
  struct Conditions {
    double limit = 0;
    CountedCopies copies;
    std::vector<double> reserved;  // by point
    bool operator==(const Conditions&) const = default;
  };
  std::optional<CountedCopies> more_copies(const Placed& placed) const;
  void add_reserve(solver::PlacementProblem& problem) const;

  const ConstrainedModel& model_;
  const double limit_;
  Conditions now_, of_problem_;
  std::optional<solver::PlacementProblem> problem_;
  bool reserves_ = true;
  // Planned limits: of the last program that exceeded the real one, and at which nothing fits.
  double exceeded_ = 0, infeasible_ = 0;
};

}  // namespace shw
