// The planner under a memory limit: placements with what they hold, the lowest limit that can be
// kept, and what to say when a limit cannot.
#include <algorithm>
#include <cmath>

#include "compiler/planner.h"
#include "plan/report.h"

namespace shw {
namespace {

constexpr double kGiB = 0x1p30;
constexpr int kHalvings = 16;     // of the range in which the lowest peak lies
constexpr double kAnyGap = 1e12;  // the first labelling ends the solve
constexpr uint64_t kProbeBranchNodes = 100;

double price_per_gib(std::span<const solver::BudgetPrice> prices, uint32_t budget) {
  double sum = 0;
  for (const solver::BudgetPrice& p : prices)
    if (p.budget == budget) sum += p.price;
  return sum * kGiB;
}

}  // namespace

Result<Placed> Planner::place_within(double limit_bytes, PlacementConstraints constraints,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  constraints.memory_limit_bytes = static_cast<int64_t>(limit_bytes);
  SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem, this->problem(constraints, monitor));
  SHW_ASSIGN_OR_RETURN(Placed placed, solve(problem, options, monitor));
  const MemoryPeak peak = memory_.peak(placed.choice);
  placed.memory.limit_bytes = limit_bytes;
  placed.memory.peak_bytes = peak.bytes;
  placed.memory.at = peak.at;
  if (limit_bytes > 0) {
    const auto budget = static_cast<uint32_t>(problem.budget_limits().size() - 1);
    placed.memory.price_per_gib = price_per_gib(placed.prices, budget);
    placed.memory.binding = static_cast<uint32_t>(
        std::ranges::count(placed.prices, budget, &solver::BudgetPrice::budget));
  }
  return placed;
}

Result<Placed> Planner::place(const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, Monitor& monitor) {
  const auto limit = static_cast<double>(constraints.memory_limit_bytes);
  Result<Placed> placed = place_within(limit, constraints, options, monitor);
  if (placed.ok() || placed.status().code() != Code::kFailedPrecondition) return placed;
  SHW_RETURN_IF_ERROR(conflict(constraints, monitor));
  if (limit == 0) return placed;
  SHW_ASSIGN_OR_RETURN(const LowestPeak lowest, lowest_peak(constraints, options, monitor));
  if (lowest.reached_bytes <= limit) return placed.status();  // it was not the limit after all
  const std::string reached = human_bytes(static_cast<int64_t>(lowest.reached_bytes));
  const std::string least = human_bytes(static_cast<int64_t>(lowest.least_bytes));
  return failed_precondition("no placement stays within a memory limit of " +
                             human_bytes(constraints.memory_limit_bytes) +
                             " per rank: the lowest peak is " +
                             (least == reached ? reached : "between " + least + " and " + reached))
      .at_node(lowest.at.v, graph_.name(lowest.at));
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
  LowestPeak lowest{memory_.floor().bytes, placed.memory.peak_bytes, std::move(placed.choice),
                    placed.memory.at};
  double from = lowest.least_bytes, next = from;
  for (int i = 0; i < kHalvings && from < lowest.reached_bytes; ++i) {
    auto within = place_within(next, constraints, any, monitor);
    if (within.ok()) {
      lowest.reached_bytes = within->memory.peak_bytes;
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
