#include "compiler/recompute_within.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "passes/pass.h"
#include "recompute/frontier.h"
#include "recompute/recompute.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// Steps of all choices of a program that is built for every one: some tenths of a second.
constexpr uint64_t kAllSteps = 40'000;

int64_t scratch_bytes(const Program& p) { return p.arena_bytes + p.session_bytes; }

double simulated_us(const Program& p) {
  double us = 0;
  for (const ProgramEntry& entry : p.entries) us += entry.weight * simulate(p, entry).total_us;
  return us;
}

class Search {
 public:
  Search(const Program& program, int64_t limit_bytes, Monitor& monitor)
      : program_(program), limit_bytes_(limit_bytes), monitor_(monitor) {}

  Result<Program> run(const Graph& graph) {
    SHW_ASSIGN_OR_RETURN(joints_, halves(program_));
    for (const Joint& joint : joints_) {
      SHW_ASSIGN_OR_RETURN(Frontier f, Frontier::of(joint, graph, monitor_));
      num_choices_ = std::max(num_choices_, f.num_choices());
      frontiers_.push_back(std::move(f));
    }
    SHW_RETURN_IF_ERROR(uint64_t{num_choices_} * program_.steps.size() <= kAllSteps ? try_all()
                                                                                    : halve());
    best_->recompute_excess_us = excess_us();
    return std::move(*best_);
  }

 private:
  Status try_all() {
    for (uint32_t k = 0; k < num_choices_; ++k) SHW_RETURN_IF_ERROR(attempt(k).status());
    return {};
  }

  // The first choice that fits, if later ones hold less.
  Status halve() {
    SHW_ASSIGN_OR_RETURN(const bool first_fits, attempt(0));
    if (first_fits || num_choices_ == 1) return {};
    SHW_ASSIGN_OR_RETURN(const bool last_fits, attempt(num_choices_ - 1));
    if (!last_fits) return {};
    for (uint32_t low = 0, high = num_choices_ - 1; high - low > 1;) {
      const uint32_t middle = low + (high - low) / 2;
      SHW_ASSIGN_OR_RETURN(const bool fits, attempt(middle));
      (fits ? high : low) = middle;
    }
    return {};
  }

  // With several backward halves, all are the same part of the way along their choices.
  uint32_t choice_of(const Frontier& frontier, uint32_t k) const {
    if (num_choices_ <= 1) return 0;
    return static_cast<uint32_t>(uint64_t{k} * (frontier.num_choices() - 1) / (num_choices_ - 1));
  }

  // Whether it fits.
  Result<bool> attempt(uint32_t k) {
    static constexpr const PassDef* kPasses[] = {&kDeadSteps, &kScheduleCollectives, &kPlanMemory};
    SHW_RETURN_IF_ERROR(monitor_.poll());
    std::vector<Repeated> repeated;
    for (size_t h = 0; h < joints_.size(); ++h)
      repeated.push_back({&joints_[h], frontiers_[h].choice(choice_of(frontiers_[h], k))});
    Program p = program_;
    repeat(p, repeated);
    SHW_RETURN_IF_ERROR(run_passes(p, kPasses, monitor_).status());
    const double us = simulated_us(p);
    const bool fits = scratch_bytes(p) <= limit_bytes_;
    const bool better =
        fits_ == fits ? (fits ? us < best_us_ : scratch_bytes(p) < scratch_bytes(*best_)) : fits;
    if (best_ && !better) return fits;
    fits_ = fits;
    best_us_ = us;
    best_ = std::move(p);
    best_repeated_ = std::move(repeated);
    return fits;
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

  const Program& program_;
  const int64_t limit_bytes_;
  Monitor& monitor_;
  std::vector<Joint> joints_;
  std::vector<Frontier> frontiers_;  // by pair of halves
  uint32_t num_choices_ = 1;
  std::optional<Program> best_;
  std::vector<Repeated> best_repeated_;
  double best_us_ = 0;
  bool fits_ = false;
};

}  // namespace

Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 Monitor& monitor) {
  return Search(program, limit_bytes, monitor).run(graph);
}

}  // namespace shw
