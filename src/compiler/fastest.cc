#include "compiler/fastest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "compiler/exposure.h"
#include "compiler/place.h"
#include "compiler/programs.h"
#include "compiler/recompute_within.h"
#include "compiler/within_limit.h"
#include "recipes/recipe_layouts.h"
#include "support/quiet.h"

namespace shw {
namespace {

// The share of the time limit for finding the cheapest placement.
constexpr double kFirstShareOfTime = 0.5;

class FastestSearch {
 public:
  FastestSearch(std::span<const KnownPlacement> known, const ConstrainedModel& question,
                double limit_bytes, const solver::SolveOptions& options, Monitor& monitor)
      : known_(known),
        question_(question),
        limit_(limit_bytes),
        model_(question.model()),
        options_(cold(options)),
        monitor_(monitor),
        muted_(quiet(monitor)),
        edges_(sent_edges(model_.graph())),
        least_us_(least_compute_us(model_)) {}

  Result<Fastest> run(const Placed& cheapest) {
    SHW_RETURN_IF_ERROR(try_all(cheapest));
    return taken(cheapest);
  }

 private:
  using Scales = std::vector<double>;  // of prices, by edge
  struct Candidate {                   // `scales`: the last that gave this placement
    Placed placed;
    Exposure exposure;
    Scales scales;
  };
  static constexpr double kRounding = 1e-9;
  static constexpr double kShares[] = {1. / 2, 1. / 4, 1. / 8};
  static constexpr int kAverages = 6, kAroundBest = 5;
  // Shares are rounded to 1/32, because each different share needs its own scaled tables of prices.
  // The least share is 1/32 rather than 0, since hidden communication still occupies a link.
  static constexpr double kSharesOfOne = 32;
  // If the tables are larger than this, prices are not scaled: each kind of edge may need its own
  // copy.
  static constexpr uint64_t kMaxTableBytes = uint64_t{512} << 20;
  // The gaps for scaled prices. Scaled prices are only guesses, so their optimum need not be
  // proven. Under a memory limit each attempt is a search of many rounds, so the gap is wider.
  static constexpr double kGapOfScaled = 5e-4, kGapWithinLimit = 2e-3;
  static constexpr uint64_t kBranchNodes = 20;
  // Under a memory limit, the work of an attempt is limited to this many cells per node. Graphs
  // with fewer nodes than kLeastNodes count as that many.
  static constexpr uint64_t kCells = 750'000, kLeastNodes = 400;

  static solver::SolveOptions cold(solver::SolveOptions options) {
    options.warm = nullptr;
    options.keep_warm = false;
    return options;
  }
  solver::SolveOptions rough(solver::SolveOptions options, double gap) const {
    if (limit_ > 0) {
      const uint64_t nodes = std::max(uint64_t{model_.graph().num_nodes()}, kLeastNodes);
      options.max_cells = std::min(options.max_cells, nodes * kCells);
    }
    options.relative_gap = std::max(options.relative_gap, gap);
    options.max_branch_nodes = std::min(options.max_branch_nodes, kBranchNodes);
    return options;
  }

  // True if the step is as short as the least compute time of any placement, so no placement can be
  // faster. This happens for graphs of tiny tensors, where every rank computes everything.
  bool is_least() const { return best_->exposure.step_us() <= least_us_ * (1 + kRounding); }
  static double least_compute_us(const PreparedModel& model) {
    double us = 0;
    for (uint32_t i = 0; i < model.graph().num_nodes(); ++i)
      us += std::ranges::min(model.compute_us(NodeId{i}));
    return us;
  }

  Status try_all(const Placed& cheapest) {
    SHW_RETURN_IF_ERROR(consider(cheapest, Scales(edges_.size(), 1.0)));
    if (is_least()) return {};
    if (asks_series(model_, limit_)) return try_prices_without_limit();
    for (const double share : kShares) SHW_RETURN_IF_ERROR(try_share(share));
    SHW_RETURN_IF_ERROR(try_known());
    SHW_RETURN_IF_ERROR(try_recipes());
    SHW_RETURN_IF_ERROR(try_averages());
    SHW_RETURN_IF_ERROR(try_around_best());
    if (limit_ == 0 || is_late()) return {};
    SHW_ASSIGN_OR_RETURN(const auto without, without_limit(Asks::kIfTheCheapestFits));
    return without ? try_best_of(*without) : Status();
  }
  Status try_known() {
    for (const KnownPlacement& k : known_)
      SHW_RETURN_IF_ERROR(consider(k.placed, Scales(edges_.size(), 1.0)));
    return {};
  }

  // A search with averages arrives at prices that depend on the programs that it finds, and thus on
  // the limit. So this search uses the prices of the search without a limit. The placements that
  // solve_within() tries at these prices do not depend on the limit either.
  Status try_prices_without_limit() {
    SHW_RETURN_IF_ERROR(try_known());
    SHW_RETURN_IF_ERROR(try_recipes());
    if (is_late()) return {};
    SHW_ASSIGN_OR_RETURN(const auto without, without_limit(Asks::kAlways));
    if (!without) return {};
    SHW_RETURN_IF_ERROR(try_best_of(*without));
    for (const Scales& scales : without->tried_) SHW_RETURN_IF_ERROR(try_scales(scales).status());
    return {};
  }

  // The same search without a limit. Null: it has no answer; or, with kIfTheCheapestFits, it is
  // skipped because the cheapest placement does not fit as it is.
  using Search = std::unique_ptr<FastestSearch>;
  enum class Asks : uint8_t { kAlways, kIfTheCheapestFits };
  Result<Search> without_limit(Asks asks) {
    Result<Placed> cheapest = solve_within(question_, 0, options_, muted_);
    if (!cheapest.ok())
      return is_unanswered(cheapest.status()) ? Result<Search>(Search()) : cheapest.status();
    Search without(new FastestSearch({}, question_, 0, options_, muted_));
    SHW_RETURN_IF_ERROR(without->consider(*cheapest, Scales(edges_.size(), 1.0)));
    if (asks == Asks::kIfTheCheapestFits && !fits(*without->best_)) return Search();
    SHW_RETURN_IF_ERROR(without->try_all(*cheapest));
    return Result<Search>(std::move(without));
  }
  bool fits(const Candidate& c) const {
    return static_cast<double>(bytes_of(model_, *c.placed.program)) <= limit_ &&
           (recomputes_within(model_, limit_) || c.placed.memory.peak_bytes <= limit_);
  }

  // The best placement of the search without a limit is a candidate under the limit, too, if it
  // fits as it is.
  Status try_best_of(const FastestSearch& without) {
    const Candidate& best = *without.best_;
    if (!fits(best) || best.exposure.step_us() >= best_->exposure.step_us()) return {};
    Placed placed = best.placed;
    placed.memory.limit_bytes = limit_;
    placed.memory.program_bytes = static_cast<double>(bytes_of(model_, *placed.program));
    placed.memory.is_program = recomputes_within(model_, limit_);
    if (placed.memory.is_program) {
      Program program = *placed.program;
      program.recompute_excess_us = 0;
      placed.program = std::make_shared<const Program>(std::move(program));
    }
    return add(std::move(placed), best.scales);
  }

  Status try_share(double share) {
    Scales scales;
    for (const SentEdge& e : edges_) scales.push_back(is_activation(e.kind) ? 1 : share);
    return try_scales(std::move(scales)).status();
  }

  Status try_recipes() {
    if (is_late()) return {};
    const Graph& graph = model_.graph();
    const auto parts = recipes::ModelParts::of(graph);
    SHW_ASSIGN_OR_RETURN(const recipes::Cuts cuts, recipes::Cuts::of(graph, parts, monitor_));
    for (const recipes::Recipe& recipe : recipes::all()) {
      if (std::ranges::find(known_, recipe.name, &KnownPlacement::recipe) != known_.end()) continue;
      if (!recipes::why_not(recipe, parts, model_.mesh()).empty()) continue;
      const recipes::RecipeLayouts layouts =
          recipes::layouts_of(recipe, graph, model_.mesh(), model_.strategies(), parts, cuts);
      const ConstrainedModel narrowed = question_.with_choices(layouts.choices);
      SHW_RETURN_IF_ERROR(attempt(narrowed, Scales(edges_.size(), 1.0),
                                  limit_ > 0 ? rough(options_, kGapWithinLimit) : options_)
                              .status());
    }
    return {};
  }

  // Shares of single rounds oscillate: communication that becomes cheap is used more, until it is
  // exposed and becomes dear again. Their average over the rounds converges.
  Status try_averages() {
    Scales scales = best_->scales;
    std::shared_ptr<const Candidate> measured = best_;
    for (int round = 0; round < kAverages; ++round) {
      Scales next = towards(measured->exposure, scales, 1.0 / (round + 2));
      if (next == scales) return {};  // the scales equal the measured shares, or nothing is sent
      scales = std::move(next);
      SHW_ASSIGN_OR_RETURN(const bool found, try_scales(scales));
      if (!found) return {};
      measured = last_;
    }
    return {};
  }

  Status try_around_best() {
    Scales from = best_->scales;
    double step = 0.5;
    for (int round = 0; round < kAroundBest; ++round) {
      const Scales scales = towards(best_->exposure, from, step);
      if (scales == from) return {};
      SHW_ASSIGN_OR_RETURN(const bool found, try_scales(scales));
      if (!found) return {};
      if (last_ == best_)
        from = scales;
      else
        step /= 2;
    }
    return {};
  }

  // Moves the scales by `share` of the distance to the measured shares.
  Scales towards(const Exposure& measured, const Scales& from, double share) const {
    Scales scales;
    for (size_t i = 0; i < edges_.size(); ++i) {
      const double s = from[i] + share * (measured.share(edges_[i], from[i]) - from[i]);
      scales.push_back(std::max(1.0, std::round(s * kSharesOfOne)) / kSharesOfOne);
    }
    return scales;
  }

  // False: there is no such placement, or no time to find it.
  Result<bool> try_scales(Scales scales) {
    if (question_.problem().pool_bytes() > kMaxTableBytes) return false;
    if (std::ranges::find(tried_, scales) == tried_.end()) tried_.push_back(scales);
    const ConstrainedModel scaled = question_.with_scaled_edges(scales);
    const double gap = limit_ > 0 ? kGapWithinLimit : kGapOfScaled;
    return attempt(scaled, std::move(scales), rough(options_, gap));
  }

  Result<bool> attempt(const ConstrainedModel& narrowed, Scales scales,
                       const solver::SolveOptions& options) {
    if (is_late()) return false;
    // A search that measures prices from the last program needs it even if it is slower.
    const double beat_us = asks_series(model_, limit_) ? best_->exposure.step_us() : kEndless;
    Result<Placed> placed = solve_within(narrowed, limit_, options, muted_, Weighs::kPlacements,
                                         nullptr, Wanted::kFastest, beat_us);
    if (!placed.ok()) {
      const bool none =
          placed.status().code() == Code::kFailedPrecondition || is_unanswered(placed.status());
      return none ? Result<bool>(false) : placed.status();
    }
    placed->objective_us = placed->total.us();
    SHW_RETURN_IF_ERROR(consider(*std::move(placed), std::move(scales)));
    return true;
  }

  // Makes the placement the last candidate, and the best one if its program is faster.
  Status consider(Placed placed, Scales scales) {
    const auto of_choice = [&](const std::shared_ptr<Candidate>& c) {
      return c->placed.choice == placed.choice;
    };
    if (const auto at = std::ranges::find_if(seen_, of_choice); at != seen_.end()) {
      last_ = *at;
      last_->scales = std::move(scales);
      return {};
    }
    return add(std::move(placed), std::move(scales));
  }
  Status add(Placed placed, Scales scales) {
    const auto start = std::chrono::steady_clock::now();
    if (placed.program == nullptr) {
      SHW_ASSIGN_OR_RETURN(Program program,
                           program_of(model_, placed, monitor_, {.verify = Verify::kLater}));
      placed.program = std::make_shared<const Program>(std::move(program));
    }
    Exposure exposure = Exposure::of(*placed.program);
    lowering_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    last_ = seen_.emplace_back(
        new Candidate{std::move(placed), std::move(exposure), std::move(scales)});
    if (best_ != nullptr && last_->exposure.step_us() >= best_->exposure.step_us()) {
      last_->placed.program = nullptr;
    } else {
      if (best_ != nullptr) best_->placed.program = nullptr;
      best_ = last_;
    }
    return {};
  }

  bool is_late() const { return options_.deadline.sooner_by(lowering_s_).passed(); }

  // Returns the best candidate. Its bound, and whether it is proven optimal, refer to prices, so
  // they come from the cheapest placement.
  Fastest taken(const Placed& cheapest) {
    Fastest fastest{std::move(best_->placed), best_->exposure.step_us(), std::move(best_->scales)};
    Placed& out = fastest.placed;
    out.bound_us = cheapest.bound_us;
    out.proven = cheapest.proven && out.objective_us <= cheapest.objective_us;
    if (out.proven) fastest.scales.assign(edges_.size(), 1);
    out.prices = cheapest.prices;
    out.warm = cheapest.warm;
    out.stats = cheapest.stats;
    out.memory.rounds = cheapest.memory.rounds;
    out.memory.price_per_gib = cheapest.memory.price_per_gib;
    out.memory.binding = cheapest.memory.binding;
    return fastest;
  }

  const std::span<const KnownPlacement> known_;
  const ConstrainedModel& question_;
  const double limit_;
  const PreparedModel& model_;
  const solver::SolveOptions options_;
  Monitor& monitor_;
  Monitor muted_;  // its bounds are at other prices
  const std::vector<SentEdge> edges_;
  const double least_us_;
  std::vector<Scales> tried_;
  std::vector<std::shared_ptr<Candidate>> seen_;
  std::shared_ptr<Candidate> last_, best_;  // only the best keeps its program
  double lowering_s_ = 0;
};

using Place = Result<Placed>(const ConstrainedModel&, double, const solver::SolveOptions&,
                             Monitor&);

Result<Fastest> fastest_by(Place& place, const ConstrainedModel& question, double limit_bytes,
                           const solver::SolveOptions& options, Monitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  solver::SolveOptions first = options;
  first.deadline = options.deadline.after_share(kFirstShareOfTime);
  SHW_ASSIGN_OR_RETURN(const Placed cheapest, place(question, limit_bytes, first, monitor));
  SHW_ASSIGN_OR_RETURN(Fastest fastest,
                       fastest_of(cheapest, {}, question, limit_bytes, options, monitor));
  fastest.placed.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return fastest;
}

Result<Placed> answer_by(Place& place, const ConstrainedModel& question,
                         const solver::SolveOptions& options, Monitor& monitor) {
  const double limit = question.memory_limit();
  if (!takes_fastest(question.model())) return place(question, limit, options, monitor);
  SHW_ASSIGN_OR_RETURN(Fastest fastest, fastest_by(place, question, limit, options, monitor));
  return std::move(fastest.placed);
}

}  // namespace

bool takes_fastest(const PreparedModel& model) {
  return model.options().overlap.kind == Overlap::kSimulated;
}

Result<Fastest> fastest(const ConstrainedModel& question, double limit_bytes,
                        const solver::SolveOptions& options, Monitor& monitor) {
  return fastest_by(place, question, limit_bytes, options, monitor);
}

Result<Fastest> fastest_of(const Placed& cheapest, std::span<const KnownPlacement> known,
                           const ConstrainedModel& question, double limit_bytes,
                           const solver::SolveOptions& options, Monitor& monitor) {
  Monitor timed = improving_until(options.deadline, monitor);
  return FastestSearch(known, question, limit_bytes, options, timed).run(cheapest);
}

Result<Placed> answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                      Monitor& monitor) {
  return answer_by(place, question, options, monitor);
}

Result<Placed> try_answer(const ConstrainedModel& question, const solver::SolveOptions& options,
                          Monitor& monitor) {
  return answer_by(try_place, question, options, monitor);
}

}  // namespace shw
