// What the phases of a solve share: the best labelling so far, and the chain of presolves that
// leads from a sub-problem back to the problem that was asked.
#pragma once
#include <atomic>
#include <cmath>
#include <memory>
#include <span>

#include "solver/presolve.h"
#include "solver/problem.h"
#include "solver/trws.h"
#include "solver/watch.h"

namespace shw::solver {

// Counts towards a sum as long as it lives, which may end in another thread.
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

// A presolved problem and where it came from: either the root problem, or some labels of another
// stage's. Its labellings, plus `constant`, cost what they cost in the root problem.
struct Stage {
  std::shared_ptr<const Stage> parent;
  std::shared_ptr<const RestrictedProblem> source;  // what was presolved; null: the root problem
  PlacementProblem problem;
  double constant = 0;
  Postsolve undo;
  ByteCount bytes;
};

// Why sweeps ended.
enum class Verdict {
  kClosed,   // the stage has nothing below the cutoff
  kStalled,  // the bound moves no more, or the sweeps are used up
  kExpired,  // the time limit
};

class Search {
 public:
  Search(const PlacementProblem& root, const SolveOptions& options, Watch& watch)
      : root_(root), options_(options), watch_(watch) {}

  // For a thread that works on stages of this search: it has its own watch and incumbent.
  Search fork(Watch& watch) const;
  // Takes the other's incumbent, if it is cheaper.
  void adopt(const Search& other);

  const SolveOptions& options() const { return options_; }
  Watch& watch() { return watch_; }
  SolveStats& stats() { return stats_; }
  double cost() const { return cost_; }  // of the incumbent, by evaluate()
  double bound() const { return bound_; }
  std::vector<uint32_t> take_choice() { return std::move(choice_); }
  std::vector<BudgetPrice>& prices() { return prices_; }

  // Nothing that costs this or more is worth looking for: the incumbent less the gap that counts as
  // proven.
  double cutoff() const { return cutoff(cost_); }
  bool proven() const { return bound_ >= cutoff() && cost_ != kForbidden; }
  // The bound of the whole problem; it never falls, and never passes the incumbent.
  Status raise_bound(double bound);

  // Takes the answer to another problem, which fits(); its floors for this one, if they hold, and
  // then keeps these.
  std::vector<double> begin_warm(const WarmStart& warm);
  // The same, and solves among the labels of low floors (warm.cc).
  // False: that is no cheaper than to begin afresh.
  Result<bool> close_warm(const WarmStart& warm);
  // Of a wide problem, a flag per label: 0 where no labelling below cutoff() has it. Empty: not
  // wide. May leave the whole problem proven().
  Result<std::vector<uint8_t>> thin_out();
  // `keep`: as thin_out() gives it. `budgeted`: see PresolveOptions.
  Result<std::shared_ptr<const Stage>> root_stage(std::span<const uint8_t> keep,
                                                  std::span<const uint8_t> budgeted = {});
  // `source` holds labels of `parent`; those with keep[label] == 0 go too. FAILED_PRECONDITION:
  // nothing is left.
  Result<std::shared_ptr<const Stage>> restrict(std::shared_ptr<const Stage> parent,
                                                std::shared_ptr<const RestrictedProblem> source,
                                                std::span<const uint8_t> keep,
                                                std::span<const uint8_t> budgeted = {});

  // What the stages that live hold, about.
  uint64_t stage_bytes() const { return *stage_bytes_; }
  // Only labellings cheaper than this are worth finding.
  void look_below(double cost) { cost_ = std::min(cost_, cost); }
  bool found() const { return found_; }
  // Takes a labelling of the stage's problem; keeps it if it is the cheapest.
  void offer(const Stage& stage, std::span<const uint32_t> choice);

  // Takes a labelling of the root problem.
  void take(std::vector<uint32_t> choice);
  // From here on, what the first sweeps say that labellings with each label cost at least is kept;
  // labels not much dearer than the optimum are swept to the end, for that.
  void keep_floors() { keeps_floors_ = true; }
  // Of the root problem's labels; −∞: not known. Empty: none are.
  std::vector<double> take_floors() { return std::move(floors_); }
  // `trws` swept the root stage, at costs higher by `offset`.
  void note_floors(const Stage& stage, const Trws& trws, double offset);

  // Sweeps at most max_sweeps times. `is_root`: the stage's bound is that of the whole problem, and
  // is reported.
  Result<Verdict> tighten(const Stage& stage, Trws& trws, uint32_t max_sweeps, bool is_root);

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
  bool keeps_floors_ = false;
  std::shared_ptr<std::atomic<uint64_t>> stage_bytes_ = std::make_shared<std::atomic<uint64_t>>(0);
  bool found_ = false;  // choice_ is a labelling: of no variables, too
  double cost_ = kForbidden;
  double bound_ = -kForbidden;
};

// The best labelling found of a part of some problem, as labels of that one; empty: none.
Result<std::vector<uint32_t>> best_of(const RestrictedProblem& part, const SolveOptions& options,
                                      Watch& watch);

// Brings the incumbent and the bound of the search together, unless a limit is met (close.cc).
Status close_gap(Search& search, std::shared_ptr<const Stage> root);

// The same under budgets, and with the presolve at the root (budget_close.cc). FAILED_PRECONDITION:
// nothing is within the budgets.
Status close_gap_within_budgets(Search& search, const PlacementProblem& root);

// The MILP (lp_solve.cc) of a core of at most `max_binaries` labels; adds its answer to the search.
// True: the core's optimum was found, or it has nothing below the cutoff. Where lp_solve is not
// installed: false, and the statistics say so.
Result<bool> close_with_lp_solve(Search& search, const Stage& core, uint64_t max_binaries);

}  // namespace shw::solver
