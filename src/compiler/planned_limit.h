// The limit on planned memory, and what counts towards it. A program may need more memory than was
// planned. So the planned limit is the real limit minus what earlier programs needed beyond their
// plans.
//
// At first, copies do not count. At each point where a placement exceeds the limit, the copies that
// are live there count from then on. If the program exceeds the limit although the plan does not,
// the difference is reserved at the points where the program exceeds it. If that has no effect, the
// limit of all points is lowered. If nothing fits then, the reserve or the step was too large, and
// raise() takes back part of it.
#pragma once
#include <optional>
#include <vector>

#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

class PlannedLimit {
 public:
  static constexpr double kMinStep = 2e-3;  // of the limit

  // The model must outlive it. `planned_bytes`: the initial planned limit; 0: none.
  PlannedLimit(const ConstrainedModel& model, double limit_bytes, double planned_bytes)
      : model_(model), limit_(limit_bytes), now_{planned_bytes, {}, {}} {}

  double bytes() const { return now_.limit; }
  void set(double bytes) { now_.limit = bytes; }
  bool counts_copies() const { return !now_.copies.at.empty(); }
  bool has_reserve() const { return !now_.reserved.empty(); }
  bool is_reduced() const { return now_.limit != limit_ || has_reserve(); }
  void forget_copies() { now_.copies = {}; }
  void forget_reserve() { now_.reserved.clear(); }

  // Whether the placement exceeds the limit at a point where copies do not count yet.
  bool can_count_copies(const Placed& placed) const;
  // From now on, copies count at these points. False: there is no such point.
  bool count_copies(const Placed& placed);
  // From now on, reserves what this program holds above its plan at the points where it exceeds the
  // limit. False: that much is reserved already; or the plan itself exceeds the limit; or the
  // difference is so large that the program must run some step at another time than planned, and
  // the two cannot be compared point by point.
  bool reserve(const Placed& placed);
  // Lowers the limit of all points, but not to a limit at which nothing is known to fit.
  void lower(double by);
  // Call it after a round in which nothing fitted. Either drops the reserve and lowers the limit
  // instead, or takes back half of the last step. `too_much`: the bytes by which the last program
  // exceeded the real limit. False: the interval between the two limits is too small to try another
  // one.
  bool raise(double too_much);

  // The problem under this limit. The same object as the last time if nothing has changed.
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
  // Planned limits: the one under which the last program exceeded the real limit, and one at which
  // nothing fits.
  double exceeded_ = 0, infeasible_ = 0;
};

}  // namespace shw
