#include "compiler/within_limit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "compiler/programs.h"
#include "lowering/shard_order.h"
#include "support/quiet.h"

namespace shw {
namespace {

constexpr double kGiB = 0x1p30;

double price_per_gib(std::span<const solver::BudgetPrice> prices, uint32_t budget) {
  double sum = 0;
  for (const solver::BudgetPrice& p : prices)
    if (p.budget == budget) sum += p.price;
  return sum * kGiB;
}

Status decide_orders(const ConstrainedModel& constrained, Placed& placed, Monitor& monitor) {
  const PreparedModel& model = constrained.model();
  auto assignment =
      std::make_shared<Assignment>(assignment_of(model.graph(), model.strategies(), placed.choice));
  if (!model.plans_orders())
    SHW_RETURN_IF_ERROR(choose_shard_orders(model.graph(), model.redistributor(),
                                            constrained.conditions().orders, *assignment, monitor));
  placed.assignment = std::move(assignment);
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
class MemoryLimitedSearch {
 public:
  MemoryLimitedSearch(const ConstrainedModel& model, double limit_bytes,
                      const solver::SolveOptions& options, Monitor& monitor)
      : model_(model),
        limit_(limit_bytes),
        relaxed_(recomputes_within(model.model(), limit_bytes)),
        planned_limit_(relaxed_ ? 0 : limit_bytes),
        options_(options),
        rough_deadline_(options.deadline.after_share(kRoughShareOfTime)),
        time_s_(options.deadline.left_s()),
        monitor_(monitor) {
    options_.keep_warm = true;
  }

  Result<Placed> run() {
    SHW_RETURN_IF_ERROR(run_rounds(relaxed_ ? kRelaxedRounds : kRoughRounds, !relaxed_));
    if (!relaxed_ && !is_late() && refines()) {
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

  // Whether fine rounds can gain anything. They branch more than rough ones, unless few nodes are
  // allowed: then they only repeat the rough ones for a slightly smaller gap.
  bool refines() const {
    if (options_.max_branch_nodes > kRoughBranchNodes) return !(best_ && proven());
    return !best_ && options_.relative_gap < kRoughGap;
  }

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
    const std::vector<double> held = model_.model().memory().bytes_at_points(placed.choice);
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
    const solver::PlacementProblem problem =
        model_.problem_within(std::trunc(planned_limit_), copies_);
    Monitor muted = quiet(monitor_);  // a bound under a reduced limit is not one for the full limit
    const bool is_bound = planned_limit_ == (relaxed_ ? 0 : limit_);
    SHW_ASSIGN_OR_RETURN(Placed placed, model_.solve(problem, options(rough, rounds_left),
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
    SHW_RETURN_IF_ERROR(complete(model_, limit_, placed, monitor_));
    lowering_s_ = seconds() - solved_at;
    return placed;
  }

  const ConstrainedModel& model_;
  const double limit_;
  const bool relaxed_;    // programs take less than planned
  double planned_limit_;  // the limit minus what is reserved for the lowered program
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
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

}  // namespace

Status complete(const ConstrainedModel& constrained, double limit_bytes, Placed& placed,
                Monitor& monitor) {
  SHW_RETURN_IF_ERROR(decide_orders(constrained, placed, monitor));
  const PreparedModel& model = constrained.model();
  const MemoryPeak peak = model.memory().peak(placed.choice);
  placed.memory.limit_bytes = limit_bytes;
  placed.memory.peak_bytes = peak.bytes;
  placed.memory.at = peak.at;
  if (limit_bytes == 0) return {};
  placed.memory.repeats = recomputes_within(model, limit_bytes);
  SHW_ASSIGN_OR_RETURN(Program program, program_of(model, placed, monitor));
  placed.memory.program_bytes = static_cast<double>(bytes_of(model, program));
  placed.program = std::make_shared<const Program>(std::move(program));
  return {};
}

Result<Placed> solve_within(const ConstrainedModel& model, double limit_bytes,
                            const solver::SolveOptions& options, Monitor& monitor,
                            double* bound_us) {
  if (limit_bytes > 0) {
    MemoryLimitedSearch rounds(model, limit_bytes, options, monitor);
    Result<Placed> placed = rounds.run();
    if (bound_us != nullptr) *bound_us = std::max(*bound_us, rounds.bound_us());
    return placed;
  }
  SHW_ASSIGN_OR_RETURN(Placed placed, model.solve(model.problem(), options, monitor));
  SHW_RETURN_IF_ERROR(complete(model, 0, placed, monitor));
  return placed;
}

}  // namespace shw
