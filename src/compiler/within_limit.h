// Placements within a memory limit.
#pragma once
#include <limits>

#include "compiler/constrained_model.h"
#include "compiler/programs.h"
#include "placement/solve_placement.h"

namespace shw {

// Chooses the final shard orders and measures memory: planned, and under a limit also lowered.
// 0: no limit. `beat_us`: of WithinOptions.
Status complete(const ConstrainedModel& model, double limit_bytes, Placed& placed, Monitor& monitor,
                double beat_us = std::numeric_limits<double>::infinity(),
                Wanted wanted = Wanted::kFastest);

// The cheapest placement whose planned peak and whose lowered program fit the limit; 0: none. No
// cause is given for a failure. Raises `*bound_us`, unless null, to a lower bound on all placements
// within the limit. kJoint: where the program computes again what the limit asks for, also bounds
// both together, and tries the placements that the choice of what is repeated asks for. kPlanned:
// no placement that was planned to take more than the limit, whatever is repeated. `beat_us`: of
// WithinOptions, where asks_series(); what takes as long is not searched, and nothing else is tried
// where no program is faster.
enum class Weighs : uint8_t { kPlanned, kPlacements, kJoint };
Result<Placed> solve_within(const ConstrainedModel& model, double limit_bytes,
                            const solver::SolveOptions& options, Monitor& monitor,
                            Weighs weighs = Weighs::kPlacements, double* bound_us = nullptr,
                            Wanted wanted = Wanted::kFastest,
                            double beat_us = std::numeric_limits<double>::infinity());

// Of a small graph where repetition follows the limit (recompute auto), the placements that are
// asked for their programs do not depend on the limit: so a higher one never gives a longer step.
bool asks_series(const PreparedModel& model, double limit_bytes);

// Of a few placements, planned to take ever less, that whose program takes the least if as much as
// possible is computed again (recompute auto).
Result<Placed> least_with_repetition(const ConstrainedModel& model,
                                     const solver::SolveOptions& options, Monitor& monitor);

// Neither found nor proven impossible.
inline bool is_unanswered(const Status& status) {
  return status.code() == Code::kDeadlineExceeded || status.code() == Code::kResourceExhausted;
}

}  // namespace shw
