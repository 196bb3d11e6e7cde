// Searches for placements within a memory limit.
#pragma once
#include <limits>

#include "compiler/constrained_model.h"
#include "compiler/programs.h"
#include "placement/solve_placement.h"

namespace shw {

// Chooses the final shard orders and measures memory: that of the plan, and under a limit also that
// of the lowered program. 0: no limit. `beat_us`: see WithinOptions.
Status complete(const ConstrainedModel& model, double limit_bytes, Placed& placed, Monitor& monitor,
                double beat_us = std::numeric_limits<double>::infinity(),
                Wanted wanted = Wanted::kFastest);

// The cheapest placement whose planned peak and whose lowered program fit the limit (0: none). Does
// not explain failures. Raises `*bound_us`, unless null, to a lower bound on all placements within
// the limit.
//
// kPlanned: excludes placements that are planned to exceed the limit, even if recomputation would
// make their programs fit. kJoint: if recomputation depends on the limit, also finds a bound for
// placement and recomputation together, and tries placements that suit the choice of what is
// computed again (joint_prices.h).
//
// `beat_us`: see WithinOptions; used if asks_series(). Programs that take as long are not searched
// for, and the search ends without further attempts if no program is faster.
enum class Weighs : uint8_t { kPlanned, kPlacements, kJoint };
Result<Placed> solve_within(const ConstrainedModel& model, double limit_bytes,
                            const solver::SolveOptions& options, Monitor& monitor,
                            Weighs weighs = Weighs::kPlacements, double* bound_us = nullptr,
                            Wanted wanted = Wanted::kFastest,
                            double beat_us = std::numeric_limits<double>::infinity());

// Whether solve_within() builds programs for a fixed series of placements: for a small graph whose
// recomputation depends on the limit (recompute auto). The series does not depend on the limit, so
// a higher limit never gives a longer step.
bool asks_series(const PreparedModel& model, double limit_bytes);

// Tries a few placements, each planned to hold less than the one before. Returns the one whose
// program holds the least when as much as possible is computed again (recompute auto).
Result<Placed> least_with_repetition(const ConstrainedModel& model,
                                     const solver::SolveOptions& options, Monitor& monitor);

// The search ended with neither a placement nor a proof that there is none.
inline bool is_unanswered(const Status& status) {
  return status.code() == Code::kDeadlineExceeded || status.code() == Code::kResourceExhausted;
}

}  // namespace shw
