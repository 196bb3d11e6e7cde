#include "compiler/recompute_within.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "passes/pass.h"
#include "recompute/cut.h"
#include "recompute/frontier.h"
#include "recompute/recompute.h"
#include "recompute/rules.h"
#include "simulate/entry_times.h"
#include "simulate/lower_bound.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// Choices of the frontier that are looked at: each may take some hundredths of a second.
constexpr uint32_t kMostChoices = 48;
// Of Program::prefetch_bytes, what collectives that start early may take.
constexpr int64_t kPrefetchShares[] = {1, 0};

int64_t scratch_bytes(const Program& p) { return p.arena_bytes + p.session_bytes; }

// Of any order of the steps, and with more of them.
double lower_bound_us(const Program& p) {
  double us = 0;
  for (const ProgramEntry& entry : p.entries)
    us += entry.weight * lower_bound_us(p, entry, simulate(p, entry));
  return us;
}

// The candidates are the same for every limit, and the answer is the fastest one that fits: so a
// higher limit never gives a slower program. Most candidates need not be built: what is kept does
// not fit, or the time for which compute would be busy shows that they are not faster.
class Search {
 public:
  Search(const Program& program, int64_t limit_bytes, Monitor& monitor, double beat_us)
      : program_(program), limit_bytes_(limit_bytes), monitor_(monitor), beat_us_(beat_us) {}

  Result<Program> run(const Graph& graph) {
    SHW_ASSIGN_OR_RETURN(joints_, halves(program_));
    for (const Joint& joint : joints_) {
      SHW_ASSIGN_OR_RETURN(Frontier f, Frontier::of(joint, graph, monitor_));
      num_choices_ = std::max(num_choices_, f.num_choices());
      frontiers_.push_back(std::move(f));
    }
    find_lower_bounds();
    SHW_RETURN_IF_ERROR(find_candidates(graph));
    SHW_RETURN_IF_ERROR(build(0));
    SHW_RETURN_IF_ERROR(find_fastest());
    if (!fits_ && beat_us_ == std::numeric_limits<double>::infinity())
      SHW_RETURN_IF_ERROR(find_smallest());
    best_->recompute_excess_us = excess_us();
    best_->recompute_bound_us = bound_us();
    return std::move(*best_);
  }

 private:
  struct Candidate {
    std::vector<Repeated> repeated;
    int64_t prefetch_bytes = 0;
    int64_t kept_bytes = 0;
    double least_us = 0;  // the simulated step takes at least so long
    bool built = false;
  };

  // What the entries take at least with what they need anyway, and for how long compute is busy.
  // Entries of their own hand steps to each other: then the second is all that counts, if they
  // weigh the same.
  void find_lower_bounds() {
    const auto is_one_entry = [](const Joint& joint) { return joint.is_one_entry(); };
    if (std::ranges::all_of(joints_, is_one_entry)) least_us_ = lower_bound_us(program_);
    const double weight = program_.entries[0].weight;
    bool bounded = least_us_ > 0;
    bounded |= std::ranges::all_of(program_.entries,
                                   [&](const ProgramEntry& e) { return e.weight == weight; });
    if (!bounded) return;
    for (const ProgramEntry& entry : program_.entries)
      for (uint32_t i = 0; i < entry.num_steps; ++i)
        if (const ProgramStep& step = program_.steps[entry.first_step + i];
            step.collective.kind == CollectiveKind::kNone)
          compute_us_ += entry.weight * std::max(step.cost_us, 0.0);
  }
  double least_us(double repeated_us) const {
    constexpr double kRounding = 1e-9;  // sums are of other orders than the simulator's
    if (compute_us_ == 0) return 0;
    return (1 - kRounding) * std::max(least_us_, compute_us_ + repeated_us);
  }
  double weight(size_t half) const {
    return program_.entries[joints_[half].backward_entry()].weight;
  }

  void add(const std::vector<Repeated>& repeated, int64_t prefetch_share) {
    Candidate c{repeated, prefetch_share == 0 ? 0 : program_.prefetch_bytes / prefetch_share};
    double us = 0;
    for (size_t h = 0; h < frontiers_.size(); ++h) {
      const Frontier::Cost cost = frontiers_[h].cost_of(repeated[h].again);
      c.kept_bytes += cost.kept_bytes;
      us += weight(h) * cost.compute_us;
    }
    c.least_us = least_us(us);
    candidates_.push_back(std::move(c));
  }

  // The choices of the frontier, or so many of them, and what a person would ask for: the prices of
  // the curve add up, while the simulator knows which collectives are hidden.
  Status find_candidates(const Graph& graph) {
    uint32_t last = num_choices_;
    for (uint32_t i = 0; i < kMostChoices; ++i) {
      const auto k = static_cast<uint32_t>(uint64_t{i} * (num_choices_ - 1) / (kMostChoices - 1));
      if (k == last) continue;
      last = k;
      for (const int64_t share : kPrefetchShares) add(choice(k), share);
    }
    for (const std::string_view name :
         {"cheap", "selective", "selective+gathered", "full", "full+gathered"}) {
      SHW_ASSIGN_OR_RETURN(const RecomputePolicy policy, recompute_policy(name));
      std::vector<Repeated> repeated;
      for (const Joint& joint : joints_)
        repeated.push_back({&joint, storages_to_repeat(joint, step_rules(joint, graph, policy))});
      for (const int64_t share : kPrefetchShares) add(repeated, share);
    }
    return {};
  }

  // First the one that should just fit, by what the last program took beside what it keeps. Those
  // after it in the order of their least times can still be faster.
  Status find_fastest() {
    std::vector<uint32_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](uint32_t c) { return candidates_[c].least_us; });
    for (int i = 0; i < kGuesses; ++i)
      for (uint32_t c : order)
        if (candidates_[c].kept_bytes + beside_ <= limit_bytes_) {
          if (!is_beaten(candidates_[c])) SHW_RETURN_IF_ERROR(build(c));
          break;
        }
    for (uint32_t c : order)
      if (!is_beaten(candidates_[c])) SHW_RETURN_IF_ERROR(build(c));
    return {};
  }
  bool is_beaten(const Candidate& c) const {
    return c.kept_bytes > limit_bytes_ || c.least_us >= beat_us_ ||
           (fits_ && c.least_us >= best_us_);
  }

  Status find_smallest() {
    std::vector<uint32_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](uint32_t c) { return candidates_[c].kept_bytes; });
    for (uint32_t c : order)
      if (candidates_[c].kept_bytes < scratch_bytes(*best_)) SHW_RETURN_IF_ERROR(build(c));
    return {};
  }

  std::vector<Repeated> choice(uint32_t k) const {
    std::vector<Repeated> repeated;
    for (size_t h = 0; h < joints_.size(); ++h)
      repeated.push_back({&joints_[h], frontiers_[h].choice(choice_of(frontiers_[h], k))});
    return repeated;
  }
  // With several backward halves, all are the same part of the way along their choices.
  uint32_t choice_of(const Frontier& frontier, uint32_t k) const {
    if (num_choices_ <= 1) return 0;
    return static_cast<uint32_t>(uint64_t{k} * (frontier.num_choices() - 1) / (num_choices_ - 1));
  }

  Status build(uint32_t candidate) {
    static constexpr const PassDef* kPasses[] = {&kDeadSteps, &kScheduleCollectives, &kPlanMemory};
    Candidate& c = candidates_[candidate];
    if (c.built) return {};
    c.built = true;
    SHW_RETURN_IF_ERROR(monitor_.poll());
    Program p = program_;
    p.prefetch_bytes = c.prefetch_bytes;
    repeat(p, c.repeated);
    SHW_RETURN_IF_ERROR(run_passes(p, kPasses, monitor_).status());
    p.prefetch_bytes = program_.prefetch_bytes;
    const bool fits = scratch_bytes(p) <= limit_bytes_;
    const double us = simulated_us(p);
    beside_ = scratch_bytes(p) - c.kept_bytes;
    const bool better =
        fits_ == fits ? (fits ? us < best_us_ : scratch_bytes(p) < scratch_bytes(*best_)) : fits;
    if (best_ && !better) return {};
    fits_ = fits;
    best_us_ = us;
    best_ = std::move(p);
    best_repeated_ = c.repeated;
    return {};
  }

  // Against choices that keep what the best one keeps and the memory that it leaves unused.
  double excess_us() const {
    const int64_t unused = std::max<int64_t>(limit_bytes_ - scratch_bytes(*best_), 0);
    double us = 0;
    for (size_t h = 0; h < joints_.size(); ++h) {
      const Frontier::Cost cost = frontiers_[h].cost_of(best_repeated_[h].again);
      us += std::max(cost.us - frontiers_[h].least_us(cost.kept_bytes + unused), 0.0);
    }
    return us;
  }

  // Of all choices, if there is a bound.
  double bound_us() const {
    if (compute_us_ == 0) return -1;
    double us = 0;
    for (size_t h = 0; h < joints_.size(); ++h)
      us += weight(h) * frontiers_[h].least_compute_us(limit_bytes_);
    return std::min(least_us(us), best_us_);
  }

  static constexpr int kGuesses = 3;
  const Program& program_;
  const int64_t limit_bytes_;
  Monitor& monitor_;
  const double beat_us_;
  std::vector<Joint> joints_;
  std::vector<Frontier> frontiers_;  // by pair of halves
  std::vector<Candidate> candidates_;
  double least_us_ = 0, compute_us_ = 0;  // without repetitions; 0: no bound
  uint32_t num_choices_ = 1;
  std::optional<Program> best_;
  std::vector<Repeated> best_repeated_;
  double best_us_ = 0;
  int64_t beside_ = 0;  // what the last program took beside what it keeps
  bool fits_ = false;
};

}  // namespace

Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 Monitor& monitor, double beat_us) {
  return Search(program, limit_bytes, monitor, beat_us).run(graph);
}

}  // namespace shw
