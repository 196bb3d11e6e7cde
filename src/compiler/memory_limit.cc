// The planner under a memory limit: placements with what they hold, the lowest limit that can be
// kept, and what to say when a limit cannot.
#include <algorithm>
#include <cmath>

#include "compiler/planner.h"
#include "plan/report.h"

namespace shw {
namespace {

constexpr double kGiB = 0x1p30;
constexpr int kHalvings = 10;     // of the range in which the lowest peak lies
constexpr double kAnyGap = 1e12;  // the first labelling ends the solve
constexpr uint64_t kProbeBranchNodes = 100;

double price_per_gib(std::span<const solver::BudgetPrice> prices, uint32_t budget) {
  double sum = 0;
  for (const solver::BudgetPrice& p : prices)
    if (p.budget == budget) sum += p.price;
  return sum * kGiB;
}

}  // namespace

// What it holds, planned and lowered.
Status Planner::weigh(Placed& placed, double limit_bytes, Monitor& monitor) const {
  const MemoryPeak peak = memory_.peak(placed.choice);
  placed.memory.limit_bytes = limit_bytes;
  placed.memory.peak_bytes = peak.bytes;
  placed.memory.at = peak.at;
  if (limit_bytes == 0) return {};
  SHW_ASSIGN_OR_RETURN(const Program program, program_of(placed, monitor));
  placed.memory.program_bytes = static_cast<double>(bytes_of(program));
  return {};
}

// The first problem leaves copies out: its optimum is a bound, and the answer if it fits. If it
// nearly does, the same once more with what was missing kept free: buffers of collectives, small
// copies, gaps in the arena. Else the copies are taken in, which is exact and takes long; what is
// missing then is kept free likewise.
class Planner::WithinLimit {
 public:
  WithinLimit(Planner& planner, double limit_bytes, const PlacementConstraints& constraints,
              const solver::SolveOptions& options, Monitor& monitor)
      : planner_(planner),
        limit_(limit_bytes),
        room_(limit_bytes),
        constraints_(constraints),
        options_(options),
        monitor_(monitor) {}

  Result<Placed> run() {
    SHW_ASSIGN_OR_RETURN(Placed last, solve());
    double bound = last.bound_us;
    for (int i = 0; i < kRoundsWithout && over(last) > 0 && over(last) < kNearly * limit_; ++i) {
      room_ -= over(last);
      SHW_ASSIGN_OR_RETURN(const bool found, solve_next(last));
      if (!found) break;
    }
    if (over(last) > 0) {
      copies_from_ = kNegligible * limit_;
      options_.relative_gap = std::max(options_.relative_gap, kGapWithCopies);
      options_.max_branch_nodes = std::min(options_.max_branch_nodes, kBranchNodesWithCopies);
      room_ = limit_;
      SHW_ASSIGN_OR_RETURN(last, solve());
      bound = std::max(bound, last.bound_us);
    }
    for (int i = 0; i < kRoundsWithCopies && over(last) > 0; ++i) {
      room_ -= over(last);
      SHW_ASSIGN_OR_RETURN(const bool found, solve_next(last));
      if (!found) break;
    }
    if (over(last) > 0)
      return Status(Code::kDeadlineExceeded,
                    "no placement was found of which the program stays within the limit");
    last.bound_us = std::min(bound, last.objective_us);
    last.proven = last.objective_us - last.bound_us <= options_.relative_gap * last.objective_us;
    last.memory.rounds = rounds_;
    return last;
  }

 private:
  static constexpr int kRoundsWithout = 3, kRoundsWithCopies = 3;
  static constexpr double kNearly = 0.05;      // of the limit
  static constexpr double kNegligible = 1e-2;  // of the limit: smaller copies are not counted
  static constexpr double kLeastSeconds = 1;
  static constexpr double kGapWithCopies = 1e-4;
  static constexpr uint64_t kBranchNodesWithCopies = 50;

  double over(const Placed& p) const {
    return std::max(p.memory.peak_bytes, p.memory.program_bytes) - limit_;
  }

  // False: nothing is left within so little, or in the time that is left.
  Result<bool> solve_next(Placed& last) {
    auto next = solve();
    if (next.ok()) {
      last = std::move(*next);
      return true;
    }
    const Code code = next.status().code();
    if (code == Code::kFailedPrecondition || code == Code::kDeadlineExceeded) return false;
    return next.status();
  }

  Result<Placed> solve() {
    ++rounds_;
    solver::SolveOptions options = options_;
    if (options.time_limit_s > 0)
      options.time_limit_s = std::max(kLeastSeconds, (options_.time_limit_s - seconds_) / 2);
    constraints_.memory_limit_bytes = static_cast<int64_t>(room_);
    SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem,
                         planner_.problem(constraints_, monitor_, copies_from_));
    SHW_ASSIGN_OR_RETURN(Placed placed, planner_.solve(problem, options, monitor_));
    seconds_ += placed.seconds;
    placed.seconds = seconds_;
    const auto budget = static_cast<uint32_t>(problem.budget_limits().size() - 1);
    placed.memory.price_per_gib = price_per_gib(placed.prices, budget);
    placed.memory.binding = static_cast<uint32_t>(
        std::ranges::count(placed.prices, budget, &solver::BudgetPrice::budget));
    SHW_RETURN_IF_ERROR(planner_.weigh(placed, limit_, monitor_));
    return placed;
  }

  Planner& planner_;
  const double limit_;
  double room_;  // what is left to what is planned
  PlacementConstraints constraints_;
  solver::SolveOptions options_;
  Monitor& monitor_;
  double copies_from_ = HUGE_VAL;
  double seconds_ = 0;
  uint32_t rounds_ = 0;
};

Result<Placed> Planner::place_within(double limit_bytes, const PlacementConstraints& constraints,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  if (limit_bytes > 0) return WithinLimit(*this, limit_bytes, constraints, options, monitor).run();
  PlacementConstraints free = constraints;
  free.memory_limit_bytes = 0;
  SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem, this->problem(free, monitor));
  SHW_ASSIGN_OR_RETURN(Placed placed, solve(problem, options, monitor));
  SHW_RETURN_IF_ERROR(weigh(placed, 0, monitor));
  return placed;
}

Result<Placed> Planner::place_if_any(const PlacementConstraints& constraints,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  Result<Placed> placed = place_within(static_cast<double>(constraints.memory_limit_bytes),
                                       constraints, options, monitor);
  const bool unanswered = !placed.ok() && constraints.memory_limit_bytes > 0 &&
                          placed.status().code() == Code::kDeadlineExceeded;
  return unanswered ? place(constraints, options, monitor) : placed;
}

Result<Placed> Planner::place(const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, Monitor& monitor) {
  const auto limit = static_cast<double>(constraints.memory_limit_bytes);
  Result<Placed> placed = place_within(limit, constraints, options, monitor);
  const bool refused = !placed.ok() && placed.status().code() == Code::kFailedPrecondition;
  const bool unanswered =
      !placed.ok() && limit > 0 && placed.status().code() == Code::kDeadlineExceeded;
  if (!refused && !unanswered) return placed;
  if (refused) SHW_RETURN_IF_ERROR(conflict(constraints, monitor));
  if (limit == 0) return placed;
  SHW_ASSIGN_OR_RETURN(const LowestPeak lowest, lowest_peak(constraints, options, monitor));
  if (lowest.reached_bytes <= limit) return within(lowest, limit, placed.status(), monitor);
  const std::string reached = human_bytes(static_cast<int64_t>(lowest.reached_bytes));
  const std::string least = human_bytes(static_cast<int64_t>(lowest.least_bytes));
  return failed_precondition("no placement stays within a memory limit of " +
                             human_bytes(constraints.memory_limit_bytes) +
                             " per rank: the lowest peak is " +
                             (least == reached ? reached : "between " + least + " and " + reached))
      .at_node(lowest.at.v, graph_.name(lowest.at));
}

// What fits where nothing better was found.
Result<Placed> Planner::within(const LowestPeak& lowest, double limit_bytes,
                               const Status& otherwise, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(Placed placed, price_choice(graph_, strategies_, pricer_, lowest.choice));
  SHW_RETURN_IF_ERROR(weigh(placed, limit_bytes, monitor));
  if (std::max(placed.memory.peak_bytes, placed.memory.program_bytes) > limit_bytes)
    return otherwise;
  return placed;
}

// Any placement within a limit will do, so each limit is asked for with the widest of gaps. What
// takes long to find or to refute is given up, and the range stays wider.
Result<LowestPeak> Planner::lowest_peak(const PlacementConstraints& constraints,
                                        const solver::SolveOptions& options, Monitor& monitor) {
  solver::SolveOptions any = options;
  any.relative_gap = kAnyGap;
  any.max_branch_nodes = std::min(any.max_branch_nodes, kProbeBranchNodes);
  any.time_limit_s /= kHalvings;
  SHW_ASSIGN_OR_RETURN(Placed placed, place_within(0, constraints, any, monitor));
  LowestPeak lowest{memory_.floor().bytes, placed.memory.peak_bytes, {}, placed.memory.at};
  SHW_RETURN_IF_ERROR(weigh(placed, placed.memory.peak_bytes, monitor));
  lowest.reached_bytes = std::max(placed.memory.peak_bytes, placed.memory.program_bytes);
  lowest.choice = std::move(placed.choice);
  double from = lowest.least_bytes, next = from;
  for (int i = 0; i < kHalvings && from < lowest.reached_bytes; ++i) {
    auto within = place_within(next, constraints, any, monitor);
    if (within.ok()) {
      lowest.reached_bytes = std::max(within->memory.peak_bytes, within->memory.program_bytes);
      lowest.at = within->memory.at;
      lowest.choice = std::move(within->choice);
    } else if (within.status().code() == Code::kFailedPrecondition) {
      from = next + 1;  // bytes are whole
      lowest.least_bytes = from;
    } else if (within.status().code() == Code::kDeadlineExceeded) {
      from = next + 1;
    } else {
      return within.status();
    }
    next = std::floor((from + lowest.reached_bytes) / 2);
  }
  return lowest;
}

}  // namespace shw
