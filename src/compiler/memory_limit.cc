// Planning under a memory limit: placements that fit, the lowest achievable peak, and the message
// if a limit cannot be met.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "compiler/planner.h"
#include "plan/report.h"
#include "support/quiet.h"

namespace shw {
namespace {

constexpr double kGiB = 0x1p30;
constexpr int kHalvings = 10;     // of the interval that contains the lowest peak
constexpr double kAnyGap = 1e12;  // the first labelling ends the solve
constexpr uint64_t kProbeBranchNodes = 100;

double price_per_gib(std::span<const solver::BudgetPrice> prices, uint32_t budget) {
  double sum = 0;
  for (const solver::BudgetPrice& p : prices)
    if (p.budget == budget) sum += p.price;
  return sum * kGiB;
}

// Neither found nor proven impossible.
bool is_unanswered(const Status& status) {
  return status.code() == Code::kDeadlineExceeded || status.code() == Code::kResourceExhausted;
}

}  // namespace

Status Planner::complete(Placed& placed, double limit_bytes,
                         const PlacementConstraints& constraints, Monitor& monitor) const {
  SHW_RETURN_IF_ERROR(decide_orders(placed, constraints, monitor));
  const MemoryPeak peak = memory_.peak(placed.choice);
  placed.memory.limit_bytes = limit_bytes;
  placed.memory.peak_bytes = peak.bytes;
  placed.memory.at = peak.at;
  if (limit_bytes == 0) return {};
  placed.memory.repeats = recomputes_within(limit_bytes);
  SHW_ASSIGN_OR_RETURN(Program program, program_of(placed, monitor));
  placed.memory.program_bytes = static_cast<double>(bytes_of(program));
  placed.program = std::make_shared<const Program>(std::move(program));
  return {};
}

// Solves a sequence of problems. The first ignores copies: its optimum is a lower bound, and the
// answer if it fits. If it does not fit, the next problem counts the copies that are live where the
// limit was exceeded, which gives a tighter bound; this repeats until the planned peak fits. What
// the program needs in addition (buffers of collectives, small copies, gaps in the arena) is
// reserved in later rounds. All rounds are approximate until something fits; then the problem is
// solved again, with the requested precision and the full limit.
//
// Where what is computed again depends on the limit (recompute auto), a program takes less than was
// planned. Then the first problem has no limit at all; the limit of each next one is what the last
// placement was planned to take, minus what its program takes too much, at the most that can be
// computed again. So the planned limit is the real one, relaxed by what repetition saves.
class Planner::MemoryLimitedSearch {
 public:
  MemoryLimitedSearch(Planner& planner, double limit_bytes, const PlacementConstraints& constraints,
                      const solver::SolveOptions& options, Monitor& monitor)
      : planner_(planner),
        limit_(limit_bytes),
        relaxed_(planner.recomputes_within(limit_bytes)),
        planned_limit_(relaxed_ ? 0 : limit_bytes),
        constraints_(constraints),
        options_(options),
        rough_deadline_(options.deadline.after_share(kRoughShareOfTime)),
        time_s_(options.deadline.left_s()),
        monitor_(monitor) {
    options_.keep_warm = true;
  }

  Result<Placed> run() {
    SHW_RETURN_IF_ERROR(run_rounds(relaxed_ ? kRelaxedRounds : kRoughRounds, !relaxed_));
    if (!relaxed_ && !is_late() && !(best_ && proven())) {
      planned_limit_ = limit_;
      SHW_RETURN_IF_ERROR(run_rounds(kFineRounds, false));
    }
    if (!best_)
      return Status(out_of_time_ || is_late() ? Code::kDeadlineExceeded : Code::kResourceExhausted,
                    "found no placement whose lowered program fits the limit");
    best_->bound_us = std::min(bound_, best_->objective_us);
    best_->proven = proven();
    best_->seconds = seconds();
    best_->memory.rounds = rounds_;
    return std::move(*best_);
  }
  double bound_us() const { return bound_; }  // no placement within the limit is cheaper

 private:
  static constexpr uint32_t kRoughRounds = 12, kFineRounds = 3, kRelaxedRounds = 6;
  static constexpr double kMinStep = 2e-3;     // of the limit
  static constexpr double kNegligible = 1e-3;  // of the limit: smaller copies are ignored
  static constexpr double kShareOfTime = 0.05;
  // Until something fits, the remaining time is reserved for finding the lowest peak, which tells
  // what limit would suffice.
  static constexpr double kRoughShareOfTime = 0.6;
  static constexpr double kRoughGap = 2e-3;
  static constexpr uint64_t kRoughBranchNodes = 20, kBranchNodesWithCopies = 100;

  // Repeats until something fits; each round reserves more for what did not.
  Status run_rounds(uint32_t max_rounds, bool rough) {
    for (uint32_t left = max_rounds; left > 0; --left) {
      const auto next = solve(rough || (relaxed_ && planned_limit_ > 0), left);
      if (!next.ok()) {
        const Code code = next.status().code();
        const bool none = code == Code::kFailedPrecondition;
        out_of_time_ = out_of_time_ || code == Code::kDeadlineExceeded;
        const bool go_on = none ? best_ || planned_limit_ != limit_ : is_unanswered(next.status());
        return go_on ? Status() : next.status();
      }
      if (excess_bytes(*next) <= 0) {
        if (!best_ || next->objective_us < best_->objective_us) best_ = *next;
        return {};
      }
      if (is_late()) return {};
      if (relaxed_)  // by ever larger steps: what is saved by repetition can shrink with them
        planned_limit_ = next->memory.peak_bytes -
                         std::max(excess_bytes(*next), kMinStep * limit_) * (1 << (rounds_ - 1));
      else if (!count_copies(*next))
        planned_limit_ -= std::max(excess_bytes(*next), kMinStep * limit_);
    }
    return {};
  }

  double excess_bytes(const Placed& p) const { return p.memory.held_bytes() - limit_; }
  // The solver's bound may lie exactly the gap below: what rounding takes is no gap.
  bool proven() const {
    constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
    return best_->objective_us - bound_ <=
           (options_.relative_gap + kRounding) * best_->objective_us;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  // When the solver must stop so that its result can still be lowered in time.
  Deadline deadline() const {
    return (best_ ? options_.deadline : rough_deadline_).sooner_by(lowering_s_);
  }
  bool is_late() const { return deadline().passed(); }

  // From now on, counts the copies that are live at points where `placed` exceeds the limit. False:
  // they are counted already, or there is no time for such a large problem.
  bool count_copies(const Placed& placed) {
    if (first_round_s_ > kShareOfTime * time_s_) return false;
    const std::vector<double> held = planner_.memory_.bytes_at_points(placed.choice);
    copies_.at.resize(held.size(), 0);
    bool more = false;
    for (size_t i = 0; i < held.size(); ++i)
      if (held[i] > planned_limit_ && copies_.at[i] == 0) copies_.at[i] = more = true;
    if (more) copies_.from_bytes = kNegligible * limit_;
    return more;
  }

  solver::SolveOptions options(bool rough, uint32_t rounds_left) const {
    solver::SolveOptions options = options_;
    options.warm = warm_ != nullptr ? warm_.get() : options_.warm;
    options.deadline = deadline().after_share(1.0 / std::min(rounds_left, rough ? 2u : 3u));
    if (rough) options.relative_gap = std::max(options.relative_gap, kRoughGap);
    if (rough || !copies_.at.empty())
      options.max_branch_nodes =
          std::min(options.max_branch_nodes, rough ? kRoughBranchNodes : kBranchNodesWithCopies);
    return options;
  }

  Result<Placed> solve(bool rough, uint32_t rounds_left) {
    ++rounds_;
    constraints_.memory_limit_bytes = static_cast<int64_t>(planned_limit_);
    SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem,
                         planner_.problem(constraints_, monitor_, copies_));
    Monitor muted = quiet(monitor_);  // a bound under a reduced limit is not one for the full limit
    const bool is_bound = planned_limit_ == (relaxed_ ? 0 : limit_);
    SHW_ASSIGN_OR_RETURN(Placed placed, planner_.solve(problem, options(rough, rounds_left),
                                                       is_bound ? monitor_ : muted));
    if (rounds_ == 1) first_round_s_ = placed.seconds;
    warm_ = placed.warm;
    if (is_bound) bound_ = std::max(bound_, placed.bound_us);
    if (planned_limit_ > 0) {
      const auto budget = static_cast<uint32_t>(problem.budget_limits().size() - 1);
      placed.memory.price_per_gib = price_per_gib(placed.prices, budget);
      placed.memory.binding = static_cast<uint32_t>(
          std::ranges::count(placed.prices, budget, &solver::BudgetPrice::budget));
    }
    const double solved_at = seconds();
    SHW_RETURN_IF_ERROR(planner_.complete(placed, limit_, constraints_, monitor_));
    lowering_s_ = seconds() - solved_at;
    return placed;
  }

  Planner& planner_;
  const double limit_;
  const bool relaxed_;    // programs take less than planned
  double planned_limit_;  // the limit minus what is reserved for the lowered program
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PlacementConstraints constraints_;
  solver::SolveOptions options_;
  const Deadline rough_deadline_;
  const double time_s_;  // until the deadline; infinity: none
  Monitor& monitor_;
  CountedCopies copies_;
  std::shared_ptr<const solver::WarmStart> warm_;  // of the last round
  std::optional<Placed> best_;                     // the best placement that fits
  double bound_ = -HUGE_VAL;
  double first_round_s_ = 0, lowering_s_ = 0;
  bool out_of_time_ = false;
  uint32_t rounds_ = 0;
};

Result<Placed> Planner::solve_within_limit(double limit_bytes,
                                           const PlacementConstraints& constraints,
                                           const solver::SolveOptions& options, Monitor& monitor,
                                           double* bound_us) {
  if (limit_bytes > 0) {
    MemoryLimitedSearch rounds(*this, limit_bytes, constraints, options, monitor);
    Result<Placed> placed = rounds.run();
    if (bound_us != nullptr) *bound_us = std::max(*bound_us, rounds.bound_us());
    return placed;
  }
  PlacementConstraints free = constraints;
  free.memory_limit_bytes = 0;
  SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem, this->problem(free, monitor));
  SHW_ASSIGN_OR_RETURN(Placed placed, solve(problem, options, monitor));
  SHW_RETURN_IF_ERROR(complete(placed, 0, constraints, monitor));
  return placed;
}

Result<Placed> Planner::try_place(const PlacementConstraints& constraints,
                                  const solver::SolveOptions& options, Monitor& monitor) {
  return place_or_explain(constraints, options, false, monitor);
}

Result<Placed> Planner::place(const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, Monitor& monitor) {
  return place_or_explain(constraints, options, true, monitor);
}

// If nothing was found, the search for the lowest peak may still find a placement that fits.
Result<Placed> Planner::place_or_explain(const PlacementConstraints& constraints,
                                         const solver::SolveOptions& options, bool explain_failure,
                                         Monitor& monitor) {
  const auto limit = static_cast<double>(constraints.memory_limit_bytes);
  double bound_us = -HUGE_VAL;
  Result<Placed> placed = solve_within_limit(limit, constraints, options, monitor, &bound_us);
  const bool refused = !placed.ok() && placed.status().code() == Code::kFailedPrecondition;
  const bool unanswered = !placed.ok() && limit > 0 && is_unanswered(placed.status());
  if (!unanswered && !(refused && explain_failure)) return placed;
  if (refused)
    SHW_RETURN_IF_ERROR(conflict(constraints, options.deadline.after_share(0.5), monitor));
  if (limit == 0) return placed;
  const Result<LowestPeak> searched = lowest_peak(constraints, options, monitor);
  if (is_unanswered(searched.status())) return placed;  // no sufficient limit is known
  SHW_RETURN_IF_ERROR(searched.status());
  const LowestPeak& lowest = *searched;
  if (lowest.reached_bytes <= limit)
    return place_at_lowest_peak(lowest, limit, bound_us, constraints, placed.status(), monitor);
  const std::string asked = human_bytes(constraints.memory_limit_bytes) + " per rank";
  const std::string reached = human_bytes(static_cast<int64_t>(lowest.reached_bytes));
  const std::string least = human_bytes(static_cast<int64_t>(lowest.least_bytes));
  const std::string range = least == reached          ? reached
                            : lowest.least_bytes == 0 ? "at most " + reached
                                                      : "between " + least + " and " + reached;
  const bool impossible = refused || limit < lowest.least_bytes;
  Status status = impossible ? failed_precondition("no placement stays within a memory limit of " +
                                                   asked + ": the lowest peak is " + range)
                             : Status(placed.status().code(),
                                      "found no placement within a memory limit of " + asked +
                                          " in the time and work allowed; the lowest peak is " +
                                          range + ". Allow more time, more work or more memory");
  return at_origin(std::move(status), graph_, lowest.at);
}

// The placement with the lowest peak, if it fits the limit and nothing better was found.
Result<Placed> Planner::place_at_lowest_peak(const LowestPeak& lowest, double limit_bytes,
                                             double bound_us,
                                             const PlacementConstraints& constraints,
                                             const Status& otherwise, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(Placed placed, price_choice(graph_, strategies_, pricer_, lowest.choice));
  SHW_RETURN_IF_ERROR(complete(placed, limit_bytes, constraints, monitor));
  if (placed.memory.held_bytes() > limit_bytes) return otherwise;
  placed.bound_us = std::clamp(bound_us, std::max(lowest.bound_us, 0.0), placed.objective_us);
  return placed;
}

// Any placement within a limit will do, so each probe has a huge gap tolerance. Probes that take
// long are given up, which leaves a wider interval.
Result<LowestPeak> Planner::lowest_peak(const PlacementConstraints& constraints,
                                        const solver::SolveOptions& options, Monitor& monitor) {
  solver::SolveOptions any = options;
  any.relative_gap = kAnyGap;
  any.max_branch_nodes = std::min(any.max_branch_nodes, kProbeBranchNodes);
  any.deadline = options.deadline.after_share(0.5);
  Monitor muted = quiet(monitor);
  // With repetition each probe would build programs for many choices: only the cheapest placement
  // is asked what it takes at least.
  const bool repeats = options_.recompute.kind == RecomputePolicy::Kind::kAuto;
  SHW_ASSIGN_OR_RETURN(Placed placed,
                       solve_within_limit(0, constraints, repeats ? options : any, muted));
  LowestPeak lowest{repeats ? 0 : memory_.floor().bytes,
                    placed.memory.peak_bytes,
                    {},
                    placed.memory.at,
                    placed.bound_us};
  const auto start = std::chrono::steady_clock::now();
  const double limit = repeats ? 1 : placed.memory.peak_bytes;  // 1: nothing fits, so the least
  SHW_RETURN_IF_ERROR(complete(placed, limit, constraints, monitor));
  const std::chrono::duration<double> lowering = std::chrono::steady_clock::now() - start;
  const Deadline deadline = options.deadline.sooner_by(lowering.count());
  lowest.reached_bytes = placed.memory.held_bytes();
  lowest.choice = std::move(placed.choice);
  double from = lowest.least_bytes, next = from;
  const int halvings = repeats ? 0 : kHalvings;
  for (int i = 0; i < halvings && from < lowest.reached_bytes && !deadline.passed(); ++i) {
    any.deadline = deadline.after_share(1.0 / std::min(halvings - i, 3));
    auto within = solve_within_limit(next, constraints, any, muted);
    if (within.ok()) {
      lowest.reached_bytes = within->memory.held_bytes();
      lowest.at = within->memory.at;
      lowest.choice = std::move(within->choice);
    } else if (within.status().code() == Code::kFailedPrecondition) {
      from = next + 1;  // bytes are integers
      lowest.least_bytes = from;
    } else if (is_unanswered(within.status())) {
      from = next + 1;
    } else {
      return within.status();
    }
    next = std::floor((from + lowest.reached_bytes) / 2);
  }
  return lowest;
}

}  // namespace shw
