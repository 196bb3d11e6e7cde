#include "compiler/within_limit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "compiler/joint_prices.h"
#include "compiler/programs.h"
#include "compiler/reserve.h"
#include "lowering/shard_order.h"
#include "plan/report.h"
#include "simulate/simulate.h"
#include "support/quiet.h"

namespace shw {
namespace {

constexpr double kGiB = 0x1p30;
constexpr uint32_t kFewNodes = 3000;  // tenths of a second for each placement

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
// Where what is computed again depends on the limit (recompute auto), a program takes less than was
// planned. Then the first problem has no limit at all; the limit of each next one is what the last
// placement was planned to take, minus what its program takes too much, at the most that can be
// computed again. So the planned limit is the real one, relaxed by what repetition saves.
//
// For a small graph the planned limits do not depend on the real one: they fall from none to the
// lowest that is found feasible. Each placement is asked for its fastest program that fits, and the
// fastest of these is the answer. So a higher limit never gives a longer simulated step, and
// another placement is taken where it costs less than repetition. Where none of these fits, it is
// searched as if nothing were repeated: what is planned to fit does.
//
// For a larger graph, placements and choices of what is repeated follow from each other in turn
// (joint_prices.h), from the first that fits, until the placement stays or the step gets no
// shorter.
//
// A program can take less than was planned without that, too: what only a group of fused steps sees
// takes no memory, policies repeat steps, and scratch may lie in the memory of outputs. So where
// nothing is planned to fit, programs are asked as well before the limit is refused.
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
        planned_limit_(relaxed_ ? 0 : limit_bytes),
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
      planned_limit_ = limit_;
      const Status planned = run_rounds(kRoughRounds, true);
      const bool none = planned.code() == Code::kFailedPrecondition;  // none that is planned to fit
      if (!planned.ok() && !none) return planned;
    }
    if (repeats_ && relaxed_ && best_ && weighs_ == Weighs::kJoint)
      SHW_RETURN_IF_ERROR(weigh_repetition());
    if (!relaxed_ && !is_late() && refines() && (best_ || !repeats_)) {
      planned_limit_ = limit_;
      reserved_.clear();
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
  // Whether it fits or not.
  Result<Placed> run_for_least() {
    SHW_RETURN_IF_ERROR(ask_all_placements());
    if (!least_) return Status(Code::kDeadlineExceeded, "no time to look for the lowest peak");
    return std::move(*least_);
  }
  double bound_us() const { return bound_; }  // no placement within the limit is cheaper

 private:
  static constexpr uint32_t kRoughRounds = 12, kFineRounds = 3, kRelaxedRounds = 6;
  static constexpr uint32_t kPlacements = 5;  // of a small graph that are asked
  static constexpr uint32_t kJointRounds = 3;
  static constexpr double kNextPeak = 0.65;     // of the last placement
  static constexpr double kNearly = 0.03;       // of the lowest peak: is as good as that
  static constexpr double kMinStep = 2e-3;      // of the limit
  static constexpr double kNegligible = 1e-4;   // of the limit: smaller copies are ignored
  static constexpr double kMostReserved = 0.1;  // of the limit, at any point
  static constexpr double kShareOfTime = 0.2;
  // Until something fits, the remaining time is reserved for finding the lowest peak, which tells
  // what limit would suffice.
  static constexpr double kRoughShareOfTime = 0.6;
  static constexpr double kRoughGap = 2e-3;
  // Of a huge problem (SolveOptions::huge_cells) without copies, which only tells where the limit
  // is exceeded. Chosen on LLaMA-3 405B within 45 GB, checked on 42, 48 and 52 GB. Of smaller
  // problems it saves nothing, and 8B within 23.5 GB then takes 28 CPU s in place of 2.
  static constexpr double kFirstGap = 1e-2;
  static constexpr uint64_t kRoughBranchNodes = 20, kBranchNodesWithCopies = 100;
  // Of a placement that is one of several to be tried, a rough answer is enough: on three small
  // dims all labels make 15 million cells, which a branch and bound sweeps thousands of times.
  static constexpr uint64_t kLikelyCells = 1 << 20;
  // Without copies, as many nodes as make this many when multiplied by those of the graph.
  static constexpr uint64_t kBranchWork = 1'000'000;
  // For each node of the graph, or for so many, the work of a round, and from when on its answer is
  // improved beside the bound. A small graph is planned soon, even if three dims make its tables
  // large: branching hardly raises bounds there. Deep models on two dims take a fraction of it.
  // Chosen on GPT-2 of the examples on 2×2×2.
  static constexpr uint64_t kRoughCells = 2'500'000, kFineCells = 10'000'000;
  static constexpr uint64_t kImproveFrom = 2'000'000, kLeastNodes = 400;
  // A graph of more than kSeriesNodes counts as kNodesOfSeries for each placement of the series. On
  // GPT-2, 2×4, one takes 0.1 s in place of 1.3 to 4, and the fastest of the series is 3 % faster.
  static constexpr uint64_t kNodesOfSeries = 200, kSeriesNodes = 1000;

  // Whether fine rounds can gain anything. They branch more than rough ones, unless few nodes are
  // allowed: then they only repeat the rough ones for a slightly smaller gap.
  bool refines() const {
    if (options_.max_branch_nodes > kRoughBranchNodes) return !(best_ && is_within_gap());
    return !best_ && options_.relative_gap < kRoughGap;
  }

  // Where nothing is planned to fit, a program still may.
  Status run_planned_rounds() {
    Status planned = run_rounds(kRoughRounds, true);
    const bool none = planned.code() == Code::kFailedPrecondition;
    if (!none || weighs_ == Weighs::kPlanned || is_late()) return planned;
    relaxed_ = true;
    planned_limit_ = 0;
    copies_ = {};
    reserved_.clear();
    bound_ = -HUGE_VAL;  // of what is planned to fit
    const Status programs = run_rounds(kRelaxedRounds, false);
    return best_ || !(programs.ok() || is_unanswered(programs)) ? programs : planned;
  }

  // Repeats until something fits; each round reserves more for what did not.
  Status run_rounds(uint32_t max_rounds, bool rough) {
    for (uint32_t left = max_rounds; left > 0; --left) {
      const auto next = solve(rough || (relaxed_ && planned_limit_ > 0), left);
      if (!next.ok()) {
        const Code code = next.status().code();
        const bool none = code == Code::kFailedPrecondition;
        out_of_time_ = out_of_time_ || code == Code::kDeadlineExceeded;
        if (none && !relaxed_ && !best_ && raise_limit()) continue;
        const bool reduced = planned_limit_ != limit_ || !reserved_.empty();
        const bool go_on = none ? best_ || reduced : is_unanswered(next.status());
        return go_on ? Status() : next.status();
      }
      if (excess_bytes(*next) <= 0) {
        if (!best_ || next->objective_us < best_->objective_us) best_ = *next;
        return {};
      }
      if (is_late()) return {};
      if (relaxed_)  // by ever larger steps: what is saved by repetition can shrink with them
        planned_limit_ =
            next->memory.peak_bytes -
            std::max(excess_bytes(*next), kMinStep * limit_) * (1 << (max_rounds - left));
      else if (!count_copies(*next, copies_) && !reserve(*next))
        lower_limit(excess_bytes(*next));
      too_much_ = excess_bytes(*next);
    }
    return {};
  }

  Status ask_all_placements() {
    double peak = 0, infeasible = 0;
    for (uint32_t left = kPlacements; left > 0 && !is_late(); --left) {
      const auto next = solve(planned_limit_ > 0, left);
      if (next.ok()) {
        peak = next->memory.peak_bytes;
        const double us = simulated_us(*next->program);
        if (excess_bytes(*next) <= 0 && us < beat_us_) beat_us_ = us, best_ = *next;
        if (!least_ || excess_bytes(*next) < excess_bytes(*least_)) least_ = *next;
      } else {
        const bool none = next.status().code() == Code::kFailedPrecondition;
        if (peak == 0 || !(none || is_unanswered(next.status()))) return next.status();
        infeasible = planned_limit_;
      }
      if (peak - infeasible < kNearly * peak) break;
      planned_limit_ = infeasible == 0 ? kNextPeak * peak : (peak + infeasible) / 2;
    }
    return {};
  }

  bool is_small() const { return shw::is_small(model_.model()); }

  // The bound on placement and repetition together; and, of a larger graph, the placements that the
  // repetition asks for.
  Status weigh_repetition() {
    if (is_late() || recomputation(*best_->program).steps == 0) return {};
    const JointPrices joint(model_);
    Monitor muted = quiet(monitor_);  // costs and bounds at other prices are none
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

  // Adds the points where this exceeds the limit to those whose copies count. False: they are among
  // them, or there is no time for such a large problem.
  bool count_copies(const Placed& placed, CountedCopies& copies) const {
    if (first_round_s_ > kShareOfTime * time_s_) return false;
    const std::vector<double> held = model_.model().memory().bytes_at_points(placed.choice);
    copies.at.resize(held.size(), 0);
    bool more = false;
    for (size_t i = 0; i < held.size(); ++i)
      if (held[i] > planned_limit_ && copies.at[i] == 0) copies.at[i] = more = true;
    if (more) copies.from_bytes = kNegligible * limit_;
    return more;
  }

  // Whether the next round counts more copies whatever the program takes, which then need not be
  // known.
  bool needs_no_program(const Placed& placed) const {
    if (relaxed_ || !reserved_.empty()) return false;
    CountedCopies copies = copies_;
    return placed.memory.peak_bytes > limit_ && count_copies(placed, copies);
  }

  // Lowers the limit of all points, not to where nothing fits.
  void lower_limit(double by) {
    exceeded_ = planned_limit_;
    planned_limit_ -= std::max(by, kMinStep * limit_);
    if (infeasible_ > 0) planned_limit_ = std::max(planned_limit_, (exceeded_ + infeasible_) / 2);
  }
  // After a round in which nothing fitted: what was reserved for the last placement, or the last
  // step, was too much. False: there is nothing between.
  bool raise_limit() {
    if (!reserved_.empty()) {
      reserved_.clear();
      reserves_ = false;  // of another placement they may be less
      lower_limit(too_much_);
      return true;
    }
    if (exceeded_ - planned_limit_ < kMinStep * limit_) return false;
    infeasible_ = planned_limit_;
    planned_limit_ = (exceeded_ + infeasible_) / 2;
    return true;
  }

  // From now on, reserves what this program takes above its plan, where it exceeds the limit.
  // False: that is reserved already, or the plan itself exceeds the limit, or the program runs a
  // step at another time than planned, so that the two have little to do with each other.
  bool reserve(const Placed& placed) {
    if (!reserves_ || placed.memory.peak_bytes > limit_) return false;
    const std::vector<double> above = bytes_above_plan(model_.model(), placed, limit_);
    if (std::ranges::any_of(above, [&](double b) { return b > kMostReserved * limit_; }))
      return false;
    reserved_.resize(std::max(reserved_.size(), above.size()), 0);
    bool more = false;
    for (size_t i = 0; i < above.size(); ++i) {
      more = more || above[i] > reserved_[i];
      reserved_[i] = std::max(reserved_[i], above[i]);
    }
    return more;
  }

  // The same as in the last round, if only precision differs.
  const solver::PlacementProblem& current_problem() {
    Conditions now{planned_limit_, copies_, reserved_};
    if (problem_ && conditions_ == now) return *problem_;
    problem_.reset();  // before the next one is made
    problem_ = model_.problem_within(std::trunc(planned_limit_), copies_);
    if (planned_limit_ > 0) add_reserve(*problem_);
    conditions_ = std::move(now);
    return *problem_;
  }

  // A variable without a choice that uses what is reserved.
  void add_reserve(solver::PlacementProblem& problem) const {
    const auto budget = static_cast<uint32_t>(problem.budget_limits().size() - 1);
    const auto no_choice = std::array{0.0};
    uint32_t variable = UINT32_MAX;
    for (uint32_t i = 0, end = 0; i < reserved_.size(); i = end) {
      for (end = i + 1; end < reserved_.size() && reserved_[end] == reserved_[i];) ++end;
      if (reserved_[i] == 0) continue;
      if (variable == UINT32_MAX) variable = problem.add_variable(no_choice);
      problem.add_usage(budget, variable, i, end, std::array{reserved_[i]});
    }
  }

  solver::SolveOptions options(bool rough, uint32_t rounds_left) const {
    solver::SolveOptions options = options_;
    options.warm = warm_ != nullptr ? warm_.get() : options_.warm;
    options.deadline = deadline().after_share(1.0 / std::min(rounds_left, rough ? 2u : 3u));
    if (rough) options.relative_gap = std::max(options.relative_gap, rough_gap());
    const uint64_t nodes = model_.model().graph().num_nodes();
    const bool of_series = rough && relaxed_ && is_small();
    if (of_series) options.likely_cells = kLikelyCells;
    const uint64_t worth =
        of_series && nodes > kSeriesNodes ? kNodesOfSeries : std::max(nodes, kLeastNodes);
    options.max_cells = std::min(options.max_cells, worth * (rough ? kRoughCells : kFineCells));
    options.improve_from = std::min(options.improve_from, worth * kImproveFrom);
    const uint64_t fine = copies_.at.empty() ? std::max(kBranchNodesWithCopies, kBranchWork / nodes)
                                             : kBranchNodesWithCopies;
    options.max_branch_nodes = std::min(options.max_branch_nodes, rough ? kRoughBranchNodes : fine);
    return options;
  }

  double rough_gap() const {
    const bool is_first_of_huge = rounds_ == 1 && !relaxed_ && problem_ &&
                                  solver::edge_cells(*problem_) >= options_.huge_cells;
    return is_first_of_huge ? kFirstGap : kRoughGap;
  }

  // What is planned with less memory than there is must still beat the best.
  double cost_below(bool is_bound) const {
    return best_ && !relaxed_ && !is_bound ? best_->objective_us : solver::kForbidden;
  }

  Result<Placed> solve(bool rough, uint32_t rounds_left) {
    ++rounds_;
    const solver::PlacementProblem& problem = current_problem();
    Monitor muted = quiet(monitor_);  // a bound under a reduced limit is not one for the full limit
    const bool is_bound =
        planned_limit_ == (repeats_ || relaxed_ ? 0 : limit_) && reserved_.empty();
    solver::SolveOptions round = options(rough, rounds_left);
    round.cost_below = std::min(round.cost_below, cost_below(is_bound));
    SHW_ASSIGN_OR_RETURN(Placed placed, model_.solve(problem, round, is_bound ? monitor_ : muted));
    if (rounds_ == 1) first_round_s_ = placed.seconds;
    warm_ = placed.warm;
    cells_ += placed.stats.cells;
    if (is_bound) bound_ = std::max(bound_, placed.bound_us);
    if (planned_limit_ > 0) {
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
  const bool repeats_;  // programs can take less than planned
  bool relaxed_;        // so the planned limit is another than theirs
  const Weighs weighs_;
  const Wanted wanted_;
  double planned_limit_;  // the limit minus what is reserved for the lowered program
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  solver::SolveOptions options_;
  const Deadline rough_deadline_;
  const double time_s_;  // until the deadline; infinity: none
  Monitor& monitor_;
  CountedCopies copies_;
  std::vector<double> reserved_;  // by point: for what programs took above their plans
  struct Conditions {
    double limit = 0;
    CountedCopies copies;
    std::vector<double> reserved;
    bool operator==(const Conditions&) const = default;
  };
  Conditions conditions_;  // of problem_
  std::optional<solver::PlacementProblem> problem_;
  bool reserves_ = true;
  double too_much_ = 0;  // bytes of the last program above the limit
  // Planned limits: of the last program that exceeded the real one, and at which nothing fits.
  double exceeded_ = 0, infeasible_ = 0;
  std::shared_ptr<const solver::WarmStart> warm_;  // of the last round
  std::optional<Placed> best_, least_;  // the best placement that fits; of a series, the smallest
  double beat_us_;        // the simulated step of the best, if it is asked, or of another one
  const bool must_beat_;  // there was another one from the start
  double bound_ = -HUGE_VAL;
  double first_round_s_ = 0, lowering_s_ = 0;
  bool out_of_time_ = false;
  uint32_t rounds_ = 0;
  uint64_t cells_ = 0;  // of the rounds that found something
};

}  // namespace

Status complete(const ConstrainedModel& constrained, double limit_bytes, Placed& placed,
                Monitor& monitor, double beat_us, Wanted wanted) {
  SHW_RETURN_IF_ERROR(decide_orders(constrained, placed, monitor));
  const PreparedModel& model = constrained.model();
  note_peak(model, limit_bytes, placed);
  if (limit_bytes == 0) return {};
  placed.memory.is_program = recomputes_within(model, limit_bytes);
  SHW_ASSIGN_OR_RETURN(Program program,
                       program_of(model, placed, monitor, nullptr, beat_us, wanted));
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
  constexpr double kTooLittle = 1;  // so as much as possible is repeated
  return MemoryLimitedSearch(model, kTooLittle, options, Weighs::kPlacements, Wanted::kFastest,
                             monitor)
      .run_for_least();
}

}  // namespace shw
