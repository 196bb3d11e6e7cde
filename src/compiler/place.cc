#include "compiler/place.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/conflicts.h"
#include "compiler/programs.h"
#include "compiler/share_changes.h"
#include "compiler/within_limit.h"
#include "plan/report.h"
#include "support/quiet.h"

namespace shw {
namespace {

constexpr int kHalvings = 10;  // of the interval that contains the lowest peak
// For a large graph, an interval of this share of the peak is narrow enough: a probe that finds
// nothing takes seconds there.
constexpr double kNarrow = 5e-3;
constexpr uint32_t kManyNodes = 3000;
constexpr double kAnyGap = 1e12;  // the first labelling ends the solve
constexpr uint64_t kProbeBranchNodes = 100;

// The placement with the lowest peak, if it fits the limit and nothing better was found.
Result<Placed> place_at_lowest_peak(const ConstrainedModel& model, double limit_bytes,
                                    const LowestPeak& lowest, double bound_us,
                                    const Status& otherwise, Wanted wanted, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(Placed placed, model.model().price(lowest.choice));
  SHW_RETURN_IF_ERROR(complete(model, limit_bytes, placed, monitor, solver::kForbidden, wanted));
  if (placed.memory.held_bytes() > limit_bytes) return otherwise;
  placed.bound_us = std::clamp(bound_us, std::max(lowest.bound_us, 0.0), placed.objective_us);
  return placed;
}

// The error for a limit that is too low. It names a sufficient limit. `because`: the status of the
// search within `limit_bytes`.
Status no_placement(const ConstrainedModel& model, double limit_bytes, const LowestPeak& lowest,
                    Status because) {
  const auto text = [](double bytes) { return human_bytes(static_cast<int64_t>(bytes)); };
  const std::string asked = text(limit_bytes) + " per rank";
  const std::string reached = text(lowest.reached_bytes), least = text(lowest.least_bytes);
  const std::string range = least == reached          ? reached
                            : lowest.least_bytes == 0 ? "at most " + reached
                                                      : "between " + least + " and " + reached;
  // To the byte, so that the limit can be set to it.
  const std::string enough =
      " (" + std::to_string(static_cast<int64_t>(lowest.reached_bytes)) + " bytes)";
  const bool impossible =
      because.code() == Code::kFailedPrecondition || limit_bytes < lowest.least_bytes;
  Status status = impossible
                      ? failed_precondition("no placement stays within a memory limit of " + asked +
                                            ": the lowest peak is " + range + enough)
                      : Status(because.code(),
                               "found no placement within a memory limit of " + asked +
                                   " in the time and work allowed; the lowest peak is " + range +
                                   enough + ". Allow more time, more work or more memory");
  return at_origin(std::move(status), model.model().graph(), lowest.at);
}

// The peak of the cheapest placement. If recomputation depends on the limit, the smallest peak of a
// few placements that compute as much as possible again.
Result<LowestPeak> first_peak(const ConstrainedModel& model, const solver::SolveOptions& options,
                              bool repeats, double& program_bytes, Monitor& monitor) {
  Result<Placed> placed = repeats ? least_with_repetition(model, options, monitor)
                                  : solve_within(model, 0, options, monitor);
  SHW_RETURN_IF_ERROR(placed.status());
  if (!repeats) SHW_RETURN_IF_ERROR(complete(model, placed->memory.peak_bytes, *placed, monitor));
  program_bytes = placed->memory.program_bytes;
  return LowestPeak{repeats ? 0 : model.model().memory().floor().bytes, placed->memory.held_bytes(),
                    std::move(placed->choice), placed->memory.at, placed->bound_us};
}

// If nothing was found, the search for the lowest peak may still find a placement that fits.
Result<Placed> place_or_explain(const ConstrainedModel& model, double limit_bytes,
                                const solver::SolveOptions& options, bool explain_failure,
                                Monitor& owner, Wanted wanted = Wanted::kFastest,
                                const LowestPeak* known = nullptr) {
  Monitor monitor = improving_until(options.deadline, owner);
  double bound_us = -HUGE_VAL;
  Result<Placed> placed =
      solve_within(model, limit_bytes, options, monitor, Weighs::kJoint, &bound_us, wanted);
  const bool refused = !placed.ok() && placed.status().code() == Code::kFailedPrecondition;
  const bool unanswered = !placed.ok() && limit_bytes > 0 && is_unanswered(placed.status());
  if (placed.ok())
    SHW_RETURN_IF_ERROR(share_changes(model, limit_bytes, options, *placed, monitor));
  if (!unanswered && !(refused && explain_failure)) return placed;
  if (refused)
    SHW_RETURN_IF_ERROR(find_conflict(model, options.deadline.after_share(0.5), monitor));
  if (limit_bytes == 0) return placed;
  const Result<LowestPeak> lowest =
      known != nullptr ? *known : lowest_peak(model, options, monitor);
  if (is_unanswered(lowest.status())) return placed;  // no sufficient limit is known
  SHW_RETURN_IF_ERROR(lowest.status());
  if (lowest->reached_bytes <= limit_bytes)
    return place_at_lowest_peak(model, limit_bytes, *lowest, bound_us, placed.status(), wanted,
                                monitor);
  return no_placement(model, limit_bytes, *lowest, placed.status());
}

}  // namespace

Result<Placed> place(const ConstrainedModel& model, double limit_bytes,
                     const solver::SolveOptions& options, Monitor& monitor) {
  return place_or_explain(model, limit_bytes, options, true, monitor);
}

Result<Placed> place_for_any_program(const ConstrainedModel& model, double limit_bytes,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  return place_or_explain(model, limit_bytes, options, true, monitor, Wanted::kAnyThatFits);
}

Result<Placed> place(const ConstrainedModel& model, const solver::SolveOptions& options,
                     Monitor& monitor) {
  return place(model, model.memory_limit(), options, monitor);
}

Result<Placed> place_at(const ConstrainedModel& model, const LowestPeak& lowest,
                        const solver::SolveOptions& options, Monitor& monitor) {
  return place_or_explain(model, lowest.reached_bytes, options, true, monitor, Wanted::kAnyThatFits,
                          &lowest);
}

Result<Placed> try_place(const ConstrainedModel& model, double limit_bytes,
                         const solver::SolveOptions& options, Monitor& monitor) {
  return place_or_explain(model, limit_bytes, options, false, monitor);
}

// Bisects the limit. Any placement within a limit will do, so each probe has a huge gap tolerance.
// Probes that take long are given up, which leaves a wider interval. A placement that is planned to
// fit does fit, with or without recomputation.
Result<LowestPeak> lowest_peak(const ConstrainedModel& model, const solver::SolveOptions& options,
                               Monitor& monitor) {
  solver::SolveOptions any = options;
  any.relative_gap = kAnyGap;
  any.max_branch_nodes = std::min(any.max_branch_nodes, kProbeBranchNodes);
  any.deadline = options.deadline.after_share(0.5);
  Monitor timed = improving_until(options.deadline, monitor), muted = quiet(timed);
  const bool repeats = recomputes_within(model.model(), 1);
  const auto start = std::chrono::steady_clock::now();
  double program_bytes = 0;  // of the first placement
  SHW_ASSIGN_OR_RETURN(LowestPeak lowest,
                       first_peak(model, repeats ? options : any, repeats, program_bytes, muted));
  const LowestPeak cheapest = lowest;
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - start;
  const Deadline deadline = options.deadline.sooner_by(first.count());
  double from = model.model().memory().floor().bytes, next = from;
  const double narrow = model.model().graph().num_nodes() > kManyNodes ? kNarrow * from : 0;
  const auto is_wide = [&] { return lowest.reached_bytes - from > narrow; };
  for (int i = 0; i < kHalvings && is_wide() && !deadline.passed(); ++i) {
    any.deadline = deadline.after_share(1.0 / std::min(kHalvings - i, 3));
    auto within = solve_within(model, next, any, muted, Weighs::kPlanned);
    if (within.ok()) {
      lowest.reached_bytes = within->memory.held_bytes();
      lowest.at = within->memory.at;
      lowest.choice = std::move(within->choice);
    } else if (within.status().code() == Code::kFailedPrecondition) {
      from = next + 1;  // bytes are integers
      if (!repeats) lowest.least_bytes = from;
    } else if (is_unanswered(within.status())) {
      from = next + 1;
    } else {
      return within.status();
    }
    next = std::floor((from + lowest.reached_bytes) / 2);
  }
  if (program_bytes < lowest.reached_bytes) {  // although more was planned
    lowest.reached_bytes = program_bytes;
    lowest.least_bytes = std::min(lowest.least_bytes, program_bytes);
    lowest.choice = cheapest.choice;
    lowest.at = cheapest.at;
  }
  return lowest;
}

}  // namespace shw
