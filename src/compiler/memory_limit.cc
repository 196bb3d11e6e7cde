// The planner under a memory limit: placements with what they hold, the lowest limit that can be
// kept, and what to say when a limit cannot.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/planner.h"
#include "plan/report.h"
#include "support/quiet.h"

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
// does not, the next has the copies that are there where it does not fit, which is a closer bound;
// until what is planned fits. What the program takes beyond it – buffers of collectives, small
// copies, gaps in the arena – is kept free in the rounds after. All that is done roughly, until
// something fits, and then as well as was asked, from the whole limit on.
class Planner::WithinLimit {
 public:
  WithinLimit(Planner& planner, double limit_bytes, const PlacementConstraints& constraints,
              const solver::SolveOptions& options, Monitor& monitor)
      : planner_(planner),
        limit_(limit_bytes),
        room_(limit_bytes),
        constraints_(constraints),
        options_(options),
        monitor_(monitor) {
    options_.keep_warm = true;
  }

  Result<Placed> run() {
    SHW_RETURN_IF_ERROR(descend(kRoughRounds, true));
    if (!is_late() && !(best_ && proven())) {
      room_ = limit_;
      SHW_RETURN_IF_ERROR(descend(kFineRounds, false));
    }
    if (!best_)
      return Status(Code::kDeadlineExceeded,
                    "no placement was found of which the program stays within the limit");
    best_->bound_us = std::min(bound_, best_->objective_us);
    best_->proven = proven();
    best_->seconds = seconds();
    best_->memory.rounds = rounds_;
    return std::move(*best_);
  }

 private:
  static constexpr uint32_t kRoughRounds = 12, kFineRounds = 3;
  static constexpr double kLeastStep = 2e-3;   // of the limit
  static constexpr double kNegligible = 1e-3;  // of the limit: smaller copies are not counted
  static constexpr double kLeastSeconds = 0.5;
  static constexpr double kShareOfTime = 0.05;
  static constexpr double kRoughGap = 2e-3;
  static constexpr uint64_t kRoughBranchNodes = 20, kBranchNodesWithCopies = 100;

  // Rounds until something fits, each with more room for what did not.
  Status descend(uint32_t most_rounds, bool rough) {
    for (uint32_t left = most_rounds; left > 0; --left) {
      const auto next = solve(rough, left);
      if (!next.ok()) {
        const Code code = next.status().code();
        const bool none = code == Code::kFailedPrecondition;
        const bool go_on = none ? best_ || room_ != limit_ : code == Code::kDeadlineExceeded;
        return go_on ? Status() : next.status();
      }
      if (over(*next) <= 0) {
        if (!best_ || next->objective_us < best_->objective_us) best_ = *next;
        return {};
      }
      if (is_late()) return {};
      if (!count_copies(*next)) room_ -= std::max(over(*next), kLeastStep * limit_);
    }
    return {};
  }

  double over(const Placed& p) const { return p.memory.held_bytes() - limit_; }
  bool proven() const {
    return best_->objective_us - bound_ <= options_.relative_gap * best_->objective_us;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool is_late() const { return options_.time_limit_s > 0 && seconds() >= options_.time_limit_s; }

  // From now on, those that are there where this does not fit. False: they are counted already, or
  // there is no time for so large a problem.
  bool count_copies(const Placed& placed) {
    if (options_.time_limit_s > 0 && first_round_s_ > kShareOfTime * options_.time_limit_s)
      return false;
    const std::vector<double> held = planner_.memory_.bytes_at_points(placed.choice);
    copies_.at.resize(held.size(), 0);
    bool more = false;
    for (size_t i = 0; i < held.size(); ++i)
      if (held[i] > room_ && copies_.at[i] == 0) copies_.at[i] = more = true;
    if (more) copies_.from_bytes = kNegligible * limit_;
    return more;
  }

  solver::SolveOptions options(bool rough, uint32_t rounds_left) const {
    solver::SolveOptions options = options_;
    options.warm = warm_ != nullptr ? warm_.get() : options_.warm;
    if (options.time_limit_s > 0) {
      const double left = options_.time_limit_s - seconds();
      options.time_limit_s = std::max(kLeastSeconds, left / std::min(rounds_left, 3u));
    }
    if (rough) options.relative_gap = std::max(options.relative_gap, kRoughGap);
    if (rough || !copies_.at.empty())
      options.max_branch_nodes =
          std::min(options.max_branch_nodes, rough ? kRoughBranchNodes : kBranchNodesWithCopies);
    return options;
  }

  Result<Placed> solve(bool rough, uint32_t rounds_left) {
    ++rounds_;
    constraints_.memory_limit_bytes = static_cast<int64_t>(room_);
    SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem,
                         planner_.problem(constraints_, monitor_, copies_));
    Monitor apart = quiet(monitor_);  // with less room, what is proven is not for the limit
    SHW_ASSIGN_OR_RETURN(Placed placed, planner_.solve(problem, options(rough, rounds_left),
                                                       room_ == limit_ ? monitor_ : apart));
    if (rounds_ == 1) first_round_s_ = placed.seconds;
    warm_ = placed.warm;
    if (room_ == limit_) bound_ = std::max(bound_, placed.bound_us);
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
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PlacementConstraints constraints_;
  solver::SolveOptions options_;
  Monitor& monitor_;
  CountedCopies copies_;
  std::shared_ptr<const solver::WarmStart> warm_;  // the last round's
  std::optional<Placed> best_;                     // of what fits
  double bound_ = -HUGE_VAL;
  double first_round_s_ = 0;
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
  return place(constraints, options, false, monitor);
}

Result<Placed> Planner::place(const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, Monitor& monitor) {
  return place(constraints, options, true, monitor);
}

// What was not found may yet be, on the way to the lowest peak.
Result<Placed> Planner::place(const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, bool says_why,
                              Monitor& monitor) {
  const auto limit = static_cast<double>(constraints.memory_limit_bytes);
  Result<Placed> placed = place_within(limit, constraints, options, monitor);
  const bool refused = !placed.ok() && placed.status().code() == Code::kFailedPrecondition;
  const bool unanswered =
      !placed.ok() && limit > 0 && placed.status().code() == Code::kDeadlineExceeded;
  if (!unanswered && !(refused && says_why)) return placed;
  if (refused) SHW_RETURN_IF_ERROR(conflict(constraints, monitor));
  if (limit == 0) return placed;
  SHW_ASSIGN_OR_RETURN(const LowestPeak lowest, lowest_peak(constraints, options, monitor));
  if (lowest.reached_bytes <= limit) return within(lowest, limit, placed.status(), monitor);
  const std::string asked = human_bytes(constraints.memory_limit_bytes) + " per rank";
  const std::string reached = human_bytes(static_cast<int64_t>(lowest.reached_bytes));
  const std::string least = human_bytes(static_cast<int64_t>(lowest.least_bytes));
  const std::string range = least == reached ? reached : "between " + least + " and " + reached;
  const bool impossible = refused || limit < lowest.least_bytes;
  Status status = impossible ? failed_precondition("no placement stays within a memory limit of " +
                                                   asked + ": the lowest peak is " + range)
                             : Status(Code::kDeadlineExceeded,
                                      "no placement within a memory limit of " + asked +
                                          " was found in time: the lowest peak is " + range +
                                          "; allow more time, or more memory");
  return std::move(status).at_node(lowest.at.v, graph_.name(lowest.at));
}

// What fits where nothing better was found.
Result<Placed> Planner::within(const LowestPeak& lowest, double limit_bytes,
                               const Status& otherwise, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(Placed placed, price_choice(graph_, strategies_, pricer_, lowest.choice));
  SHW_RETURN_IF_ERROR(weigh(placed, limit_bytes, monitor));
  if (placed.memory.held_bytes() > limit_bytes) return otherwise;
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
  Monitor apart = quiet(monitor);
  SHW_ASSIGN_OR_RETURN(Placed placed, place_within(0, constraints, any, apart));
  LowestPeak lowest{memory_.floor().bytes, placed.memory.peak_bytes, {}, placed.memory.at};
  SHW_RETURN_IF_ERROR(weigh(placed, placed.memory.peak_bytes, monitor));
  lowest.reached_bytes = placed.memory.held_bytes();
  lowest.choice = std::move(placed.choice);
  double from = lowest.least_bytes, next = from;
  for (int i = 0; i < kHalvings && from < lowest.reached_bytes; ++i) {
    auto within = place_within(next, constraints, any, apart);
    if (within.ok()) {
      lowest.reached_bytes = within->memory.held_bytes();
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
