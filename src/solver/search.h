// State shared by the phases of a solve: the incumbent, the bound, and the chain of presolved
// stages from a sub-problem back to the input.
#pragma once
#include <atomic>
#include <cmath>
#include <memory>
#include <span>

#include "solver/presolve.h"
#include "solver/problem.h"
#include "solver/trws.h"
#include "solver/warm_messages.h"
#include "solver/watch.h"

namespace shw::solver {

// Adds to a shared counter while it lives. May be destroyed on another thread.
class ByteCount {
 public:
  ByteCount() = default;
  ByteCount(std::shared_ptr<std::atomic<uint64_t>> sum, uint64_t bytes)
      : sum_(std::move(sum)), bytes_(bytes) {
    *sum_ += bytes_;
  }
  ByteCount(ByteCount&& other) noexcept { swap(other); }
  ByteCount& operator=(ByteCount&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ByteCount() {
    if (sum_ != nullptr) *sum_ -= bytes_;
  }

 private:
  void swap(ByteCount& other) {
    std::swap(sum_, other.sum_);
    std::swap(bytes_, other.bytes_);
  }
  std::shared_ptr<std::atomic<uint64_t>> sum_;
  uint64_t bytes_ = 0;
};

// A presolved problem and its origin: the root problem, or a subset of the labels of another stage.
// A labelling's cost in the root problem is higher by `constant`.
struct Stage {
  std::shared_ptr<const Stage> parent;  // null: the root problem was presolved
  // `label`: by label of the problem that was presolved, concatenated by variable: the parent's
  // label. `first_label`: by variable: its offset in `label`.
  std::vector<uint32_t> label;
  std::vector<uint64_t> first_label;
  PlacementProblem problem;
  double constant = 0;
  Postsolve undo;
  ByteCount bytes;
};

// A labelling of the root problem as labels of a root stage; empty: presolve dropped one of them.
std::vector<uint32_t> labels_in(const Stage& root_stage, std::span<const uint32_t> choice);

// Why the sweeps ended.
enum class Verdict {
  kClosed,   // no labelling of the stage is below the cutoff
  kStalled,  // the bound has stalled or the sweeps are used up
  kFewLeft,  // labels were dropped, and presolve would remove most variables
  kExpired,  // the time limit expired
};

class Search {
 public:
  Search(const PlacementProblem& root, const SolveOptions& options, Watch& watch)
      : root_(root), options_(options), watch_(watch) {}

  // A copy for another thread, with its own watch and incumbent.
  Search fork(Watch& watch) const;
  // Adopts the other's incumbent if it is cheaper.
  void adopt(const Search& other);

  const SolveOptions& options() const { return options_; }
  Watch& watch() { return watch_; }
  SolveStats& stats() { return stats_; }
  double cost() const { return cost_; }  // of the incumbent, by evaluate()
  double bound() const { return bound_; }
  std::span<const uint32_t> choice() const { return choice_; }
  std::vector<uint32_t> take_choice() { return std::move(choice_); }
  std::vector<BudgetPrice>& prices() { return prices_; }

  // Labellings that cost this much or more are irrelevant: the incumbent's cost minus the tolerated
  // gap.
  double cutoff() const { return cutoff(cost_); }
  bool proven() const { return bound_ >= cutoff() && cost_ != kForbidden; }
  // Raises the bound of the whole problem. It never falls and never exceeds the incumbent's cost.
  Status raise_bound(double bound);

  // Adopts the answer of a warm start that fits(). Returns its floors if they hold for this
  // problem, and keeps them.
  std::vector<double> begin_warm(const WarmStart& warm);
  // The same, then solves among the labels of low floors (warm.cc). False: not expected to be
  // faster than a cold start.
  Result<bool> close_warm(const WarmStart& warm);
  // For a wide problem, a flag per label: 0 if no labelling below cutoff() has it. Empty: not wide.
  // May solve the whole problem; then it is proven().
  Result<std::vector<uint8_t>> prefilter_labels();
  // `keep`: from prefilter_labels(). `budgeted`: see PresolveOptions.
  Result<std::shared_ptr<const Stage>> root_stage(std::span<const uint8_t> keep,
                                                  std::span<const uint8_t> budgeted = {});
  // `source` holds labels of `parent`; those with keep[label] == 0 are dropped as well.
  // FAILED_PRECONDITION: no labelling is left.
  Result<std::shared_ptr<const Stage>> restrict(std::shared_ptr<const Stage> parent,
                                                std::shared_ptr<const RestrictedProblem> source,
                                                std::span<const uint8_t> keep,
                                                std::span<const uint8_t> budgeted = {});

  // Approximate memory of the live stages.
  uint64_t stage_bytes() const { return *stage_bytes_; }
  // Ignores labellings that cost this much or more.
  void require_cost_below(double cost) { cost_ = std::min(cost_, cost); }
  bool found() const { return found_; }
  // Offers a labelling of the stage's problem as incumbent.
  void offer(const Stage& stage, std::span<const uint32_t> choice);

  // Offers a labelling of the root problem as incumbent.
  void take(std::vector<uint32_t> choice);
  // From now on, records lower bounds per label from the first sweeps. Labels close to the optimum
  // are then not dropped early.
  void keep_floors() { keeps_floors_ = true; }
  // By label of the root problem; −∞: unknown. Empty: none are known.
  std::vector<double> take_floors() { return std::move(floors_); }
  // Keeps the messages of a huge root for a warm start.
  void keep_messages(const Stage& root_stage, Trws& trws);
  const std::shared_ptr<const WarmMessages>& messages() const { return messages_; }
  // `trws` has swept the root stage, with costs shifted by `offset`.
  void record_floors(const Stage& stage, const Trws& trws, double offset);

  // Sweeps at most max_sweeps times, and only while the bound rises by the share `stall_share` of
  // the gap in a dozen sweeps. `is_root`: the stage's bound is that of the whole problem, and is
  // reported. While there are many cells, one of `exact_every` sweeps reads exact costs, the others
  // rounded ones.
  Result<Verdict> tighten(const Stage& stage, Trws& trws, uint32_t max_sweeps, double stall_share,
                          bool is_root, uint32_t exact_every = 1);

 private:
  double cutoff(double cost) const {
    return cost == kForbidden ? kForbidden : cost - options_.relative_gap * std::abs(cost);
  }

  Status decode(const Stage& stage, Trws& trws);
  const PlacementProblem& root_;
  const SolveOptions& options_;
  Watch& watch_;
  SolveStats stats_;
  std::vector<uint32_t> choice_;
  std::vector<BudgetPrice> prices_;
  std::vector<double> floors_;
  std::shared_ptr<const WarmMessages> messages_;
  bool keeps_floors_ = false;
  std::shared_ptr<std::atomic<uint64_t>> stage_bytes_ = std::make_shared<std::atomic<uint64_t>>(0);
  bool found_ = false;  // choice_ is valid, even if it is empty
  double cost_ = kForbidden;
  double bound_ = -kForbidden;
};

// The best labelling found for a sub-problem, in labels of that problem; empty: none.
Result<std::vector<uint32_t>> best_of(const RestrictedProblem& part, const SolveOptions& options,
                                      Watch& watch);

// Closes the gap between incumbent and bound, unless a limit is reached (close.cc).
Status close_gap(Search& search, std::shared_ptr<const Stage> root);

// The same for problems with budgets, including the presolve of the root (budget_close.cc).
// FAILED_PRECONDITION: no labelling is within the budgets. `is_rough`: aims at a good labelling,
// not at a proof.
Status close_gap_within_budgets(Search& search, const PlacementProblem& root,
                                bool is_rough = false);

// Solves a core of at most `max_binaries` labels as a MILP (lp_solve.cc) and offers its answer to
// the search. True: found the optimum, or no labelling is below the cutoff. False: otherwise, or
// lp_solve is not installed, which the statistics report.
Result<bool> close_with_lp_solve(Search& search, const Stage& core, uint64_t max_binaries);

}  // namespace shw::solver
