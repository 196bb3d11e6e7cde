// Chooses the limits to try. A placement that is cheapest under one limit is cheapest under every
// limit down to its own peak. Between that peak and the next lower point nothing is known; the
// largest such rectangle of bytes and microseconds is bisected next. Simulated searches use the
// same rule: searching again where a known placement fits would repeat work.
#include "compiler/pareto.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/fastest.h"
#include "compiler/programs.h"

namespace shw {
namespace {

constexpr uint32_t kMaxSolvesPerPoint = 3;

class Front {
 public:
  Front(const ConstrainedModel& model, const solver::SolveOptions& options, Monitor& monitor)
      : model_(model),
        simulated_(takes_fastest(model.model())),
        least_step_(simulated_ ? kLeastStepOfSearches : 0),
        options_(options),
        monitor_(monitor) {
    options_.keep_warm = true;
  }

  Result<Pareto> run(uint32_t points) {
    const auto start = std::chrono::steady_clock::now();
    SHW_RETURN_IF_ERROR(ask(0, in_share(options_of_first(), kShareOfEnds)));
    SHW_RETURN_IF_ERROR(find_lowest());
    if (!is_late())
      SHW_RETURN_IF_ERROR(
          ask(result_.lowest.reached_bytes, in_share(options_of_end(), kShareOfEnds)));
    for (size_t have = kept().size();
         have < points && result_.solves < kMaxSolvesPerPoint * points && !is_late();
         have = kept().size()) {
      const double limit = next_limit();
      if (limit == 0) break;
      solver::SolveOptions options = in_share(options_, 1.0 / static_cast<double>(points - have));
      if (!simulated_) options.warm = warm_.get();  // a simulated point must equal the plan
      SHW_RETURN_IF_ERROR(ask(limit, options));
    }
    result_.points = kept();
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  static constexpr double kShareOfEnds = 0.25;  // of the remaining time, for each end
  // If a point has fewer branch nodes than this, so has the end at the lowest peak.
  static constexpr uint64_t kFewBranchNodes = 100;

  // The least distance between limits for simulated searches, relative to the limit. Their results
  // form a curve with steps, and there is little to find inside the largest steps.
  static constexpr double kLeastStepOfSearches = 5e-3;

  bool is_late() const { return options_.deadline.passed(); }
  // Options with a deadline after `share` of the remaining time.
  solver::SolveOptions in_share(solver::SolveOptions options, double share) const {
    options.deadline = options_.deadline.after_share(share);
    return options;
  }

  // For the point at the lowest peak: the model's own options, so that the point equals the plan
  // under that limit. Not for a large model, where this point would take longer than all others.
  const solver::SolveOptions& options_of_end() const {
    return options_.max_branch_nodes < kFewBranchNodes ? options_ : model_.model().options().solver;
  }

  // For the first point: if simulated, the model's own options, since equally cheap placements may
  // differ in simulated time.
  const solver::SolveOptions& options_of_first() const {
    return simulated_ ? model_.model().options().solver : options_;
  }

  Status find_lowest() {
    auto lowest = lowest_peak(model_, in_share(options_, kShareOfEnds), monitor_);
    if (lowest.status().code() ==
        Code::kDeadlineExceeded) {  // nothing below the optimum's peak was found
      const MemoryUse& use = asked_.front().placed.memory;
      result_.lowest = {model_.model().memory().floor().bytes, use.peak_bytes, {}, use.at};
      return {};
    }
    SHW_RETURN_IF_ERROR(lowest.status());
    result_.lowest = std::move(*lowest);
    return {};
  }

  // Solves under a limit. `asked_` is ordered by decreasing limit, starting with none.
  Status ask(double limit, const solver::SolveOptions& options) {
    auto point = answer(limit, options);
    ++result_.solves;
    const Code code = point.status().code();
    if ((code == Code::kDeadlineExceeded || code == Code::kResourceExhausted) && !asked_.empty()) {
      unanswered_.push_back(limit);
      return {};
    }
    SHW_RETURN_IF_ERROR(point.status());
    warm_ = std::move(point->placed.warm);
    point->placed.program.reset();  // large, and not part of a point
    const auto at = std::ranges::find_if(
        asked_, [&](const ParetoPoint& p) { return p.limit_bytes != 0 && p.limit_bytes < limit; });
    asked_.insert(limit == 0 ? asked_.begin() : at, *std::move(point));
    for (size_t i = 1; i < asked_.size(); ++i) {
      Placed& p = asked_[i].placed;
      p.bound_us = std::min(p.objective_us, std::max(p.bound_us, asked_[i - 1].placed.bound_us));
    }
    return {};
  }

  Result<ParetoPoint> answer(double limit, const solver::SolveOptions& options) {
    if (!simulated_) {
      const bool is_lowest = limit > 0 && limit == result_.lowest.reached_bytes;
      SHW_ASSIGN_OR_RETURN(Placed placed,
                           is_lowest && !result_.lowest.choice.empty()
                               ? place_at(model_, result_.lowest, options, monitor_)
                               : place_for_any_program(model_, limit, options, monitor_));
      return ParetoPoint{limit, std::move(placed)};
    }
    SHW_ASSIGN_OR_RETURN(Fastest found, fastest(model_, limit, options, monitor_));
    Placed& placed = found.placed;
    placed.memory.program_bytes = static_cast<double>(bytes_of(model_.model(), *placed.program));
    return ParetoPoint{limit, std::move(placed), found.step_us};
  }

  // The points that are not dominated. There can be dominated ones: an interrupted search, or a
  // simulated one, may find a better placement under a lower limit.
  std::vector<ParetoPoint> kept() const {
    std::vector<ParetoPoint> list;
    for (auto it = asked_.rbegin(); it != asked_.rend(); ++it) {  // from the least memory
      while (!list.empty() && list.back().bytes() >= it->bytes() && list.back().us() >= it->us())
        list.pop_back();
      if (list.empty() || it->us() < list.back().us()) list.push_back(*it);
    }
    std::ranges::reverse(list);
    return list;
  }

  // The next limit to try; 0: no remaining limit could yield another point. A better placement
  // found under a lower limit is also an answer under the higher limits.
  double next_limit() const {
    double best_area = 0, limit = 0;
    const ParetoPoint* low = &asked_.back();
    for (size_t i = asked_.size() - 1; i-- > 0;) {
      const ParetoPoint& high = asked_[i];
      const double top = high.bytes(), bottom = asked_[i + 1].limit_bytes;
      const double middle = std::floor((top + bottom) / 2);
      const double rise = low->us() - high.us();
      if (rise > 0) low = &high;
      if (middle <= bottom + least_step_ * bottom || std::ranges::count(unanswered_, middle) > 0)
        continue;
      if (const double area = (top - bottom) * rise; area > best_area)
        best_area = area, limit = middle;
    }
    return limit;
  }

  const ConstrainedModel& model_;
  const bool simulated_;
  const double least_step_;  // between limits, relative to the limit
  solver::SolveOptions options_;
  Monitor& monitor_;
  std::vector<ParetoPoint> asked_;
  std::shared_ptr<const solver::WarmStart> warm_;  // the last answer
  std::vector<double> unanswered_;                 // limits under which nothing was found in time
  Pareto result_;
};

}  // namespace

Result<Pareto> pareto(const ConstrainedModel& model, uint32_t points,
                      const solver::SolveOptions& options, Monitor& monitor) {
  return Front(model, options, monitor).run(std::max(points, 2u));
}

solver::SolveOptions pareto_options(const PreparedModel& model,
                                    const solver::SolveOptions& options) {
  constexpr uint64_t kLabelVisits = 2'000'000, kFewest = 5, kMost = 1000;
  // Limits on the work per point. Chosen on LLaMA-3 8B with 32 layers on 8×8: most points are found
  // with half of this work, and a search near the lowest peak that finds nothing ends with it.
  constexpr uint64_t kCellsPerNode = 250'000, kLeastCells = 2'000'000'000;
  solver::SolveOptions counted = options;
  counted.max_branch_nodes =
      std::clamp(kLabelVisits / (model.strategies().total() + 1), kFewest, kMost);
  counted.max_cells =
      std::min(counted.max_cells, std::max(kLeastCells, kCellsPerNode * model.graph().num_nodes()));
  return counted;
}

}  // namespace shw
