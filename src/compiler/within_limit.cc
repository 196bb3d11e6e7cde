#include "compiler/within_limit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "compiler/joint_prices.h"
#include "compiler/planned_limit.h"
#include "compiler/programs.h"
#include "compiler/round_options.h"
#include "lowering/shard_order.h"
#include "plan/report.h"
#include "simulate/simulate.h"
#include "support/quiet.h"

namespace shw {
namespace {

constexpr double kGiB = 0x1p30;
constexpr uint32_t kFewNodes = 3000;  // up to this, a placement takes tenths of a second

bool is_small(const PreparedModel& model) { return model.graph().num_nodes() <= kFewNodes; }

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
  placed.lowered = nullptr;  // was of another assignment
  return {};
}

void note_peak(const PreparedModel& model, double limit_bytes, Placed& placed) {
  const MemoryPeak peak = model.memory().peak(placed.choice);
  placed.memory.limit_bytes = limit_bytes;
  placed.memory.peak_bytes = peak.bytes;
  placed.memory.at = peak.at;
}

// Solves a sequence of problems. The first ignores copies: its optimum is a lower bound, and the
// answer if it fits. If it does not fit, the next problem counts the copies that are live where the
// limit was exceeded, which gives a tighter bound; this repeats until the planned peak fits. What
// the program needs in addition (buffers of collectives, gaps in the arena) is reserved in later
// rounds, at the points where the program exceeded the limit. All rounds are approximate until
// something fits; then the problem is solved again, with the requested precision and the full
// limit.
//
// If recomputation depends on the limit (recompute auto), a program needs less memory than was
// planned. Then the first problem has no limit at all. The limit of each next problem is the
// planned peak of the last placement, minus the bytes by which its program exceeds the real limit
// even with the most recomputation. So the planned limit is the real limit, relaxed by what
// recomputation saves.
//
// For a small graph, the planned limits do not depend on the real one: they fall from none to the
// lowest feasible one that is found. For each placement the fastest program that fits is built, and
// the fastest of these is the answer. So a higher limit never gives a longer simulated step, and
// another placement is used where it costs less than recomputation. If none of these fits, the
// search continues as if nothing were computed again, since a placement that is planned to fit does
// fit.
//
// For a larger graph, placement and recomputation are optimised in turn (joint_prices.h). This
// starts from the first placement that fits, and ends when the placement does not change or the
// step gets no shorter.
//
// A program can need less than was planned without recompute auto, too. Values that only a group of
// fused steps sees need no memory, policies repeat steps, and scratch may lie in the memory of
// outputs. So if no placement is planned to fit, programs are built as well before the limit is
// refused.
class MemoryLimitedSearch {
 public:
  MemoryLimitedSearch(const ConstrainedModel& model, double limit_bytes,
                      const solver::SolveOptions& options, Weighs weighs, Wanted wanted,
                      Monitor& monitor, double beat_us = std::numeric_limits<double>::infinity())
      : model_(model),
        limit_(limit_bytes),
        repeats_(recomputes_within(model.model(), limit_bytes)),
        relaxed_(repeats_ && weighs != Weighs::kPlanned),
        weighs_(weighs),
        wanted_(wanted),
        planned_(model, limit_bytes, relaxed_ ? 0 : limit_bytes),
        options_(options),
        rough_deadline_(options.deadline.after_share(kRoughShareOfTime)),
        time_s_(options.deadline.left_s()),
        monitor_(monitor),
        beat_us_(beat_us),
        must_beat_(std::isfinite(beat_us)) {
    options_.keep_warm = true;
  }

  Result<Placed> run() {
    if (relaxed_ && is_small())
      SHW_RETURN_IF_ERROR(ask_all_placements());
    else if (relaxed_)
      SHW_RETURN_IF_ERROR(run_rounds(kRelaxedRounds, false));
    else
      SHW_RETURN_IF_ERROR(run_planned_rounds());
    if (repeats_ && relaxed_ && !best_ && !must_beat_ && !is_late()) {
      relaxed_ = false;
      planned_.set(limit_);
      const Status planned = run_rounds(kRoughRounds, true);
      const bool none = planned.code() == Code::kFailedPrecondition;  // no plan fits
      if (!planned.ok() && !none) return planned;
    }
    if (repeats_ && relaxed_ && best_ && weighs_ == Weighs::kJoint)
      SHW_RETURN_IF_ERROR(weigh_repetition());
    if (!relaxed_ && !is_late() && refines() && (best_ || !repeats_)) {
      planned_.set(limit_);
      planned_.forget_reserve();
      SHW_RETURN_IF_ERROR(run_rounds(kFineRounds, false));
    }
    if (!best_)
      return Status(out_of_time_ || is_late() ? Code::kDeadlineExceeded : Code::kResourceExhausted,
                    "found no placement whose lowered program fits the limit");
    best_->bound_us = std::min(bound_, best_->objective_us);
    best_->proven = solver::is_optimal(best_->objective_us, bound_);
    best_->seconds = seconds();
    best_->memory.rounds = rounds_;
    best_->stats.cells = cells_;
    return std::move(*best_);
  }
  // The placement whose program holds the least, whether it fits or not.
  Result<Placed> run_for_least() {
    SHW_RETURN_IF_ERROR(ask_all_placements());
    if (!least_) return Status(Code::kDeadlineExceeded, "no time to look for the lowest peak");
    return std::move(*least_);
  }
  double bound_us() const { return bound_; }  // no placement within the limit is cheaper

 private:
  static constexpr uint32_t kRoughRounds = 12, kFineRounds = 3, kRelaxedRounds = 6;
  static constexpr uint32_t kPlacements = 5;  // in the series of a small graph
  static constexpr uint32_t kJointRounds = 3;
  static constexpr double kNextPeak = 0.65;  // of the last placement's peak
  static constexpr double kNearly = 0.03;    // of the lowest peak: near enough to it
  static constexpr double kShareOfTime = 0.2;
  // Until something fits, the remaining time is reserved for finding the lowest peak, which tells
  // what limit would suffice.
  static constexpr double kRoughShareOfTime = 0.6;

  // Whether fine rounds can gain anything. They branch more than rough ones, unless few nodes are
  // allowed: then they only repeat the rough ones for a slightly smaller gap.
  bool refines() const {
    if (options_.max_branch_nodes > kBranchNodesOfRounds) return !(best_ && is_within_gap());
    return !best_ && options_.relative_gap < kGapOfRounds;
  }

  // If no placement is planned to fit, a program still may, so more rounds build programs.
  Status run_planned_rounds() {
    Status planned = run_rounds(kRoughRounds, true);
    const bool none = planned.code() == Code::kFailedPrecondition;
    if (!none || weighs_ == Weighs::kPlanned || is_late()) return planned;
    relaxed_ = true;
    planned_.set(0);
    planned_.forget_copies();
    planned_.forget_reserve();
    bound_ = -HUGE_VAL;  // the old bound is only for placements that are planned to fit
    const Status programs = run_rounds(kRelaxedRounds, false);
    return best_ || !(programs.ok() || is_unanswered(programs)) ? programs : planned;
  }

  // Solves until a program fits. After each round whose program does not fit, tightens the planned
  // limit.
  Status run_rounds(uint32_t max_rounds, bool rough) {
    for (uint32_t left = max_rounds; left > 0; --left) {
      const auto next = solve(rough || (relaxed_ && planned_.bytes() > 0), left);
      if (!next.ok()) {
        const Code code = next.status().code();
        const bool none = code == Code::kFailedPrecondition;
        out_of_time_ = out_of_time_ || code == Code::kDeadlineExceeded;
        if (none && !relaxed_ && !best_ && planned_.raise(too_much_)) continue;
        const bool go_on = none ? best_ || planned_.is_reduced() : is_unanswered(next.status());
        return go_on ? Status() : next.status();
      }
      if (excess_bytes(*next) <= 0) {
        if (!best_ || next->objective_us < best_->objective_us) best_ = *next;
        return {};
      }
      if (is_late()) return {};
      if (relaxed_)  // by ever larger steps: recomputation may save less at a lower planned limit
        planned_.set(next->memory.peak_bytes -
                     std::max(excess_bytes(*next), PlannedLimit::kMinStep * limit_) *
                         (1 << (max_rounds - left)));
      else if (!(has_time_for_copies() && planned_.count_copies(*next)) && !planned_.reserve(*next))
        planned_.lower(excess_bytes(*next));
      too_much_ = excess_bytes(*next);
    }
    return {};
  }

  Status ask_all_placements() {
    double peak = 0, infeasible = 0;
    for (uint32_t left = kPlacements; left > 0 && !is_late(); --left) {
      const auto next = solve(planned_.bytes() > 0, left);
      if (next.ok()) {
        peak = next->memory.peak_bytes;
        const double us = simulated_us(*next->program);
        if (excess_bytes(*next) <= 0 && us < beat_us_) beat_us_ = us, best_ = *next;
        if (!least_ || excess_bytes(*next) < excess_bytes(*least_)) least_ = *next;
      } else {
        const bool none = next.status().code() == Code::kFailedPrecondition;
        if (peak == 0 || !(none || is_unanswered(next.status()))) return next.status();
        infeasible = planned_.bytes();
      }
      if (peak - infeasible < kNearly * peak) break;
      planned_.set(infeasible == 0 ? kNextPeak * peak : (peak + infeasible) / 2);
    }
    return {};
  }

  bool is_small() const { return shw::is_small(model_.model()); }

  // Finds the bound on placement and recomputation together. For a larger graph, also tries
  // placements that suit the choice of what is computed again.
  Status weigh_repetition() {
    if (is_late() || recomputation(*best_->program).steps == 0) return {};
    const JointPrices joint(model_);
    Monitor muted = quiet(monitor_);  // its costs and bounds are at other prices
    const double limit = limit_ + static_cast<double>(model_.model().options().host_memory_bytes);
    const JointPrices::Bound bound = joint.bound(limit, best_->choice);
    const bool is_bound = model_.model().collectives().hardware().device.kernels.empty();
    best_->memory.step_bound_us = is_bound ? bound.us : -1;
    for (uint32_t left = kJointRounds; !is_small() && left > 0 && !is_late(); --left) {
      SHW_ASSIGN_OR_RETURN(Placed next, joint.placement(*best_->program, bound.us_per_byte,
                                                        options(true, left), muted));
      if (next.choice == best_->choice) return {};
      const double us = simulated_us(*best_->program);
      SHW_RETURN_IF_ERROR(complete(model_, limit_, next, monitor_, us, wanted_));
      if (excess_bytes(next) > 0 || simulated_us(*next.program) >= us) return {};
      next.memory.step_bound_us = best_->memory.step_bound_us;
      best_ = std::move(next);
    }
    return {};
  }

  double excess_bytes(const Placed& p) const { return p.memory.held_bytes() - limit_; }
  bool is_within_gap() const {
    return solver::is_within_gap(best_->objective_us, bound_, options_.relative_gap);
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  // When the solver must stop so that its result can still be lowered in time.
  Deadline deadline() const {
    return (best_ ? options_.deadline : rough_deadline_).sooner_by(lowering_s_);
  }
  bool is_late() const { return deadline().passed(); }

  // Counting copies needs further rounds. If the first round used a large share of the time, there
  // is no time for them.
  bool has_time_for_copies() const { return first_round_s_ <= kShareOfTime * time_s_; }
  // True if the next round will count more copies regardless of the program. The program need not
  // be built then.
  bool needs_no_program(const Placed& placed) const {
    return !relaxed_ && !planned_.has_reserve() && placed.memory.peak_bytes > limit_ &&
           has_time_for_copies() && planned_.can_count_copies(placed);
  }

  solver::SolveOptions options(bool rough, uint32_t rounds_left,
                               bool is_first_of_huge = false) const {
    solver::SolveOptions options = options_;
    options.warm = warm_ != nullptr ? warm_.get() : options_.warm;
    options.deadline = deadline().after_share(1.0 / std::min(rounds_left, rough ? 2u : 3u));
    const Round round{.graph_nodes = model_.model().graph().num_nodes(),
                      .is_rough = rough,
                      .is_of_series = rough && relaxed_ && is_small(),
                      .is_first_of_huge = is_first_of_huge,
                      .counts_copies = planned_.counts_copies()};
    return options_of(round, options);
  }

  // A placement planned under a reduced limit is of use only if it is cheaper than the best one.
  double cost_below(bool is_bound) const {
    return best_ && !relaxed_ && !is_bound ? best_->objective_us : solver::kForbidden;
  }

  Result<Placed> solve(bool rough, uint32_t rounds_left) {
    ++rounds_;
    const solver::PlacementProblem& problem = planned_.problem();
    Monitor muted = quiet(monitor_);  // a bound under a reduced limit is not one for the full limit
    const bool is_bound =
        planned_.bytes() == (repeats_ || relaxed_ ? 0 : limit_) && !planned_.has_reserve();
    const bool is_first_of_huge =
        rounds_ == 1 && !relaxed_ && solver::edge_cells(problem) >= options_.huge_cells;
    solver::SolveOptions round = options(rough, rounds_left, is_first_of_huge);
    round.cost_below = std::min(round.cost_below, cost_below(is_bound));
    SHW_ASSIGN_OR_RETURN(Placed placed, model_.solve(problem, round, is_bound ? monitor_ : muted));
    if (rounds_ == 1) first_round_s_ = placed.seconds;
    warm_ = placed.warm;
    cells_ += placed.stats.cells;
    if (is_bound) bound_ = std::max(bound_, placed.bound_us);
    if (planned_.bytes() > 0) {
      const auto budget = static_cast<uint32_t>(problem.budget_limits().size() - 1);
      placed.memory.price_per_gib = price_per_gib(placed.prices, budget);
      placed.memory.binding = static_cast<uint32_t>(
          std::ranges::count(placed.prices, budget, &solver::BudgetPrice::budget));
    }
    note_peak(model_.model(), limit_, placed);
    if (needs_no_program(placed)) return placed;
    const double solved_at = seconds();
    SHW_RETURN_IF_ERROR(complete(model_, limit_, placed, monitor_, beat_us_, wanted_));
    placed.memory.is_program = relaxed_ || placed.memory.is_program;
    lowering_s_ = seconds() - solved_at;
    return placed;
  }

  const ConstrainedModel& model_;
  const double limit_;
  const bool repeats_;  // recompute auto: programs can hold less than planned
  bool relaxed_;        // so the planned limit differs from the real one
  const Weighs weighs_;
  const Wanted wanted_;
  PlannedLimit planned_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  solver::SolveOptions options_;
  const Deadline rough_deadline_;
  const double time_s_;  // until the deadline; infinity: none
  Monitor& monitor_;
  double too_much_ = 0;                            // by which the last program exceeds the limit
  std::shared_ptr<const solver::WarmStart> warm_;  // of the last round
  // The best placement that fits; and in a series, the one whose program holds the least.
  std::optional<Placed> best_, least_;
  double beat_us_;        // the simulated step to beat
  const bool must_beat_;  // another placement that fits was known from the start
  double bound_ = -HUGE_VAL;
  double first_round_s_ = 0, lowering_s_ = 0;
  bool out_of_time_ = false;
  uint32_t rounds_ = 0;
  uint64_t cells_ = 0;  // summed over the rounds that found something
};

}  // namespace

Status complete(const ConstrainedModel& constrained, double limit_bytes, Placed& placed,
                Monitor& monitor, double beat_us, Wanted wanted) {
  SHW_RETURN_IF_ERROR(decide_orders(constrained, placed, monitor));
  const PreparedModel& model = constrained.model();
  note_peak(model, limit_bytes, placed);
  if (limit_bytes == 0) return {};
  placed.memory.is_program = recomputes_within(model, limit_bytes);
  SHW_ASSIGN_OR_RETURN(
      Program program,
      program_of(model, placed, monitor,
                 {.verify = Verify::kLater, .wanted = wanted, .beat_us = beat_us}));
  placed.memory.program_bytes = static_cast<double>(bytes_of(model, program));
  placed.program = std::make_shared<const Program>(std::move(program));
  return {};
}

Result<Placed> solve_within(const ConstrainedModel& model, double limit_bytes,
                            const solver::SolveOptions& options, Monitor& monitor, Weighs weighs,
                            double* bound_us, Wanted wanted, double beat_us) {
  if (limit_bytes > 0) {
    Monitor timed = improving_until(options.deadline, monitor);
    MemoryLimitedSearch rounds(model, limit_bytes, options, weighs, wanted, timed, beat_us);
    Result<Placed> placed = rounds.run();
    if (bound_us != nullptr) *bound_us = std::max(*bound_us, rounds.bound_us());
    return placed;
  }
  SHW_ASSIGN_OR_RETURN(Placed placed, model.solve(model.problem(), options, monitor));
  SHW_RETURN_IF_ERROR(complete(model, 0, placed, monitor));
  return placed;
}

bool asks_series(const PreparedModel& model, double limit_bytes) {
  return recomputes_within(model, limit_bytes) && is_small(model);
}

Result<Placed> least_with_repetition(const ConstrainedModel& model,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  constexpr double kTooLittle = 1;  // 1 byte, so as much as possible is computed again
  return MemoryLimitedSearch(model, kTooLittle, options, Weighs::kPlacements, Wanted::kFastest,
                             monitor)
      .run_for_least();
}

}  // namespace shw
