#include "compiler/recompute_within.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "passes/gather_chains.h"
#include "passes/last_passes.h"
#include "passes/pass.h"
#include "passes/split_batches.h"
#include "recompute/cut.h"
#include "recompute/frontier.h"
#include "recompute/recompute.h"
#include "recompute/rules.h"
#include "simulate/simulate.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// Steps of all choices of a program of which every one may be built: some tenths of a second.
constexpr uint64_t kAllSteps = 40'000;
// A sum of prices and the simulator add them in different orders.
constexpr double kRounding = 1e-9;
constexpr int kAttempts = 6;  // to close in on the first choice that fits

// For how long compute is busy: no schedule takes less.
double busy_us(const Program& p) {
  double us = 0;
  for (const ProgramEntry& entry : p.entries)
    for (uint32_t i = 0; i < entry.num_steps; ++i)
      if (const ProgramStep& step = p.steps[entry.first_step + i];
          step.collective.kind == CollectiveKind::kNone)
        us += entry.weight * std::max(step.cost_us, 0.0);
  return (1 - kRounding) * us;
}

class Search {
 public:
  Search(const Program& program, int64_t limit_bytes, const WithinOptions& options,
         Monitor& monitor)
      : program_(program), limit_bytes_(limit_bytes), options_(options), monitor_(monitor) {}

  Result<Program> run(const Graph& graph) {
    SHW_ASSIGN_OR_RETURN(joints_, halves(program_));
    for (const Joint& joint : joints_) {
      SHW_ASSIGN_OR_RETURN(Frontier f, Frontier::of(joint, graph, monitor_));
      num_choices_ = std::max(num_choices_, f.num_choices());
      frontiers_.push_back(std::move(f));
    }
    if (uint64_t{num_choices_} * program_.steps.size() <= kAllSteps) {
      SHW_RETURN_IF_ERROR(find_fastest(graph));
    } else {
      SHW_RETURN_IF_ERROR(close_in_by_price(graph));
      if (options_.host.copy_us) {
        uses_host_ = true;
        SHW_RETURN_IF_ERROR(close_in_by_price(graph));
      }
    }
    if (options_.fuse_bytes > 0 && fits_) SHW_RETURN_IF_ERROR(fuse());
    best_->recompute_excess_us = fits_ ? least_excess_us_ : excess_us(best_repeated_, *best_);
    SHW_RETURN_IF_ERROR(pack_tightly(*best_, monitor_));
    return std::move(*best_);
  }

 private:
  // As early as prefetching wants collectives to start, or, where that does not fit, as the limit
  // permits.
  static constexpr int64_t kFreely = INT64_MAX;
  int64_t bounded() const { return limit_bytes_; }

  struct Candidate {
    std::vector<Repeated> repeated;
    int64_t kept_bytes = 0;
    double least_us = 0;  // no schedule takes less
  };

  // The candidates are the same for every limit, and the fastest one that fits wins: so for a given
  // placement a higher limit never gives a longer step. Those that keep too much, or whose compute
  // is busy for longer than the fastest one takes, are not built.
  Status find_fastest(const Graph& graph) {
    std::vector<Candidate> candidates;
    const auto add = [&](std::vector<Repeated> repeated) {
      Program p = program_;
      repeat(p, repeated);
      SHW_RETURN_IF_ERROR(run_dead_steps(p));
      const int64_t kept = kept_bytes(repeated);
      candidates.push_back({std::move(repeated), kept, busy_us(p)});
      return Status();
    };
    for (uint32_t k = 0; k < num_choices_; ++k) SHW_RETURN_IF_ERROR(add(choice(k)));
    for (const std::string_view name : kPolicies) {
      SHW_ASSIGN_OR_RETURN(const auto repeated, by_policy(name, graph));
      SHW_RETURN_IF_ERROR(add(repeated));
    }
    sort_stably(candidates, {}, &Candidate::least_us);
    for (const Candidate& c : candidates)
      for (const bool uses_host : {false, true}) {
        if (uses_host && !options_.host.copy_us) continue;
        uses_host_ = uses_host;
        SHW_RETURN_IF_ERROR(attempt_with_less_room(c));
      }
    // Something must be returned: what holds the least shows how much is missing.
    sort_stably(candidates, {}, &Candidate::kept_bytes);
    if (!best_) SHW_RETURN_IF_ERROR(attempt(candidates.front().repeated, kFreely, 0).status());
    return {};
  }
  Status attempt_with_less_room(const Candidate& c) {
    const bool may_win = c.kept_bytes <= bytes_in_both() && c.least_us < options_.beat_us &&
                         !(fits_ && c.least_us >= best_us_);
    if (!may_win) return {};
    // With more room for early collectives the scheduler tries all that it tries with less.
    SHW_ASSIGN_OR_RETURN(const bool fits, attempt(c.repeated, kFreely));
    if (fits) return {};
    SHW_ASSIGN_OR_RETURN(const bool fits_late, attempt(c.repeated, kFreely, 0));
    for (const int64_t share : {4, 16})
      if (fits_late)
        SHW_RETURN_IF_ERROR(attempt(c.repeated, kFreely, program_.prefetch_bytes / share).status());
    return {};
  }
  // The limit, and host memory where it is used.
  int64_t bytes_in_both() const {
    return limit_bytes_ + (uses_host_ ? options_.host.limit_bytes : 0);
  }
  Status run_dead_steps(Program& p) {
    static constexpr const PassDef* kPasses[] = {&kDeadSteps};
    return run_passes(p, kPasses, monitor_).status();
  }

  // A large program is built for few choices. Here a higher limit may give a longer step.
  Status close_in_by_price(const Graph& graph) {
    SHW_ASSIGN_OR_RETURN(const bool least_fits, attempt(choice(0), kFreely));
    if (least_fits) return {};
    SHW_RETURN_IF_ERROR(try_some());
    SHW_RETURN_IF_ERROR(try_policies(graph));
    // Packing takes more than what is live: aim lower, and at last start collectives as late as
    // they can.
    for (const int64_t parts : {31, 30, 28, 24, 0})
      if (!fits_) SHW_RETURN_IF_ERROR(close_in(bounded() / 32 * parts).status());
    return {};
  }

  Status try_some() {
    SHW_ASSIGN_OR_RETURN(const uint32_t freely, close_in(kFreely));
    if (freely == num_choices_) return close_in(bounded()).status();
    // Fewer repetitions, and collectives that start later.
    const int64_t room = limit_bytes_ - beside_;
    for (const int64_t share : {4, 2, 1})
      if (const uint32_t k = first_keeping(room + program_.prefetch_bytes / share); k < freely)
        SHW_RETURN_IF_ERROR(attempt(choice(k), bounded()).status());
    // More repetitions, as a lower limit would ask for: some hide collectives.
    for (const int64_t eighths : {7, 6})
      if (const uint32_t k = first_keeping(room / 8 * eighths); k > freely)
        SHW_RETURN_IF_ERROR(attempt(choice(k), kFreely).status());
    return {};
  }

  // Towards the first choice that fits; num_choices_: none was found. What the last program took
  // beside what it keeps says where to look next. Choice 0 does not fit.
  Result<uint32_t> close_in(int64_t arena_limit_bytes) {
    uint32_t low = 0, high = num_choices_;
    for (int i = 0; i < kAttempts && high - low > 1; ++i) {
      const uint32_t k = std::clamp(first_keeping(limit_bytes_ - beside_), low + 1, high - 1);
      SHW_ASSIGN_OR_RETURN(const bool fits, attempt(choice(k), arena_limit_bytes));
      (fits ? high : low) = k;
    }
    return high;
  }

  // What a person would ask for. The prices of the curve add up; the simulator knows which
  // collectives are hidden.
  static constexpr std::string_view kPolicies[] = {"cheap", "selective", "selective+gathered",
                                                   "full", "full+gathered"};
  Status try_policies(const Graph& graph) {
    for (const std::string_view name : kPolicies) {
      SHW_ASSIGN_OR_RETURN(auto repeated, by_policy(name, graph));
      if (kept_bytes(repeated) <= bytes_in_both())
        SHW_RETURN_IF_ERROR(attempt(std::move(repeated), bounded()).status());
    }
    return {};
  }
  Result<std::vector<Repeated>> by_policy(std::string_view name, const Graph& graph) const {
    SHW_ASSIGN_OR_RETURN(const RecomputePolicy policy, recompute_policy(name));
    std::vector<Repeated> repeated;
    for (const Joint& joint : joints_)
      repeated.push_back({&joint, storages_to_repeat(joint, step_rules(joint, graph, policy))});
    return repeated;
  }

  int64_t kept_bytes(const std::vector<Repeated>& repeated) const {
    int64_t bytes = 0;
    for (size_t h = 0; h < frontiers_.size(); ++h)
      bytes += frontiers_[h].cost_of(repeated[h].again).kept_bytes;
    return bytes;
  }
  std::vector<Repeated> choice(uint32_t k) const {
    std::vector<Repeated> repeated;
    for (size_t h = 0; h < joints_.size(); ++h)
      repeated.push_back({&joints_[h], frontiers_[h].choice(choice_of(frontiers_[h], k))});
    return repeated;
  }
  // The first choice that keeps at most so much; the last one if none does.
  uint32_t first_keeping(int64_t bytes) const {
    uint32_t low = 0, high = num_choices_ - 1;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (kept_bytes(choice(middle)) <= bytes)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  // With several backward halves, all are the same part of the way along their choices.
  uint32_t choice_of(const Frontier& frontier, uint32_t k) const {
    if (num_choices_ <= 1) return 0;
    return static_cast<uint32_t>(uint64_t{k} * (frontier.num_choices() - 1) / (num_choices_ - 1));
  }

  // The arena of a program that is only tried is no tighter than it must be.
  static int64_t least_scratch(const Program& p) {
    return scratch_bytes(p) - p.arena_bytes + p.live_peak_bytes;
  }

  // Whether it fits.
  Result<bool> attempt(std::vector<Repeated> repeated, int64_t arena_limit_bytes,
                       std::optional<int64_t> prefetch_bytes = {}) {
    SHW_RETURN_IF_ERROR(monitor_.poll());
    SHW_ASSIGN_OR_RETURN(Program p,
                         unscheduled(repeated, arena_limit_bytes, prefetch_bytes, uses_host_));
    SHW_RETURN_IF_ERROR(run_last_passes(p, limit_bytes_, Packing::kEnough, monitor_));
    p.prefetch_bytes = program_.prefetch_bytes;
    const double us = simulated_us(p);
    const bool fits = scratch_bytes(p) <= limit_bytes_;
    beside_ = least_scratch(p) - kept_bytes(repeated);
    if (fits) least_excess_us_ = std::min(least_excess_us_, excess_us(repeated, p));
    const bool better =
        fits_ == fits ? (fits ? us < best_us_ : scratch_bytes(p) < scratch_bytes(*best_)) : fits;
    if (best_ && !better) return fits;
    fits_ = fits;
    best_us_ = us;
    best_ = std::move(p);
    best_repeated_ = std::move(repeated);
    best_prefetch_bytes_ = prefetch_bytes;
    best_uses_host_ = uses_host_;
    return fits;
  }
  Result<Program> unscheduled(const std::vector<Repeated>& repeated, int64_t arena_limit_bytes,
                              std::optional<int64_t> prefetch_bytes, bool uses_host) {
    Program p = program_;
    p.arena_limit_bytes = arena_limit_bytes;
    if (prefetch_bytes) p.prefetch_bytes = *prefetch_bytes;
    repeat(p, repeated);
    if (options_.fuse_prices.collective_us) fuse_gather_chains(p, options_.fuse_prices);
    SHW_RETURN_IF_ERROR(run_dead_steps(p));
    if (uses_host) offload(p, options_.host);
    if (options_.fuse_prices.collective_us) split_batches(p, options_.fuse_prices);
    return p;
  }

  // The best program once more, with collectives fused where that makes the step shorter.
  Status fuse() {
    SHW_ASSIGN_OR_RETURN(Program p, unscheduled(best_repeated_, limit_bytes_, best_prefetch_bytes_,
                                                best_uses_host_));
    SHW_RETURN_IF_ERROR(
        schedule_fused(p, options_.fuse_bytes, options_.fuse_prices, monitor_).status());
    SHW_RETURN_IF_ERROR(run_last_passes(p, limit_bytes_, Packing::kEnough, monitor_));
    p.prefetch_bytes = program_.prefetch_bytes;
    const double us = simulated_us(p);
    if (scratch_bytes(p) <= limit_bytes_ && us < best_us_) best_ = std::move(p), best_us_ = us;
    return {};
  }

  // Against choices that keep what this one keeps, in host memory too, and the memory that it
  // leaves unused.
  double excess_us(const std::vector<Repeated>& repeated, const Program& p) const {
    const int64_t unused = std::max<int64_t>(limit_bytes_ - least_scratch(p), 0);
    double us = 0;
    for (size_t h = 0; h < joints_.size(); ++h) {
      const Frontier::Cost cost = frontiers_[h].cost_of(repeated[h].again);
      us += std::max(cost.us - frontiers_[h].least_us(cost.kept_bytes + unused), 0.0);
    }
    return us;
  }

  const Program& program_;
  const int64_t limit_bytes_;
  const WithinOptions& options_;
  Monitor& monitor_;
  std::vector<Joint> joints_;
  std::vector<Frontier> frontiers_;  // by pair of halves
  uint32_t num_choices_ = 1;
  std::optional<Program> best_;
  std::vector<Repeated> best_repeated_;
  std::optional<int64_t> best_prefetch_bytes_;
  double best_us_ = 0;
  // Of all that fit. The best one may repeat more, where the schedule hides that; its step is no
  // longer than that of the one that repeats the least.
  double least_excess_us_ = std::numeric_limits<double>::infinity();
  int64_t beside_ = 0;  // what the last program took beside what it keeps
  bool fits_ = false;
  bool uses_host_ = false, best_uses_host_ = false;  // the next attempts; the best one
};

}  // namespace

Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 const WithinOptions& options, Monitor& monitor) {
  return Search(program, limit_bytes, options, monitor).run(graph);
}

}  // namespace shw
