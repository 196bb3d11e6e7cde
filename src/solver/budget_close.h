// Branch and bound for problems with budgets: declarations shared by its source files.
// budget_close.cc processes one part after another, budget_likely.cc restricts large problems to
// likely labels, budget_fronts.cc treats the most expensive rows of a part exactly, budget_split.cc
// chooses the branching, and budget_rounds.cc processes several open parts in parallel. The README
// has the algorithm as pseudo-code.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solver/budget_count.h"
#include "solver/budget_improve.h"
#include "solver/budget_rows.h"
#include "solver/open_parts.h"
#include "solver/pack.h"
#include "solver/relaxation.h"
#include "solver/search.h"

namespace shw::solver {

// A node of the branch-and-bound tree: a part of the problem and what is known about it.
struct Part {
  std::shared_ptr<const Stage> stage;
  std::shared_ptr<const BudgetRows> rows;
  std::vector<double> prices;  // by row of the root
  double bound = -kForbidden;
  double step_fraction = 0.3;  // see Relaxation
  bool use_bundle = true;      // the bundle still improves the prices
  std::shared_ptr<const RootLabels> root;
  std::vector<Count> counts;
  bool is_counted = false;             // made by splitting a count
  uint64_t fronts_below = UINT64_MAX;  // fronts are tried only on parts with fewer cells
};

struct OpenPart {
  Part parent;
  std::shared_ptr<const RestrictedProblem> source;  // a subset of the parent's labels
  std::vector<uint8_t> keep;                        // by label of `source`
  double bound;                                     // the parent's
};

// The branching rule: the labels of `source` to keep in each of the two halves, the more promising
// half last.
std::array<std::vector<uint8_t>, 2> split_labels(const Part& part, const Relaxation& relaxation,
                                                 const RestrictedProblem& source);

class BudgetCloser {
 public:
  // `is_rough`: the search branches on single variables only, moves prices by averages only, and
  // finds incumbents only as by-products of the relaxation and packing.
  BudgetCloser(Search& search, const PlacementProblem& root, bool is_rough = false)
      : search_(search), root_(root), is_rough_(is_rough), open_(search) {}

  Status run();

 private:
  bool stopped() const { return stopped(search_.watch()); }
  bool stopped(const Watch& watch) const {
    return watch.expired() || watch.cells() + lane_cells_ >= search_.options().max_cells ||
           search_.stage_bytes() > search_.options().branch_bytes ||
           search_.stats().branch_nodes >= search_.options().max_branch_nodes;
  }
  OpenPart take_next();
  void begin_warm(std::span<uint8_t> keep);
  std::vector<double> first_prices() const;

  Result<Part> root_part(const BudgetRows& all, std::span<const uint8_t> keep);
  Status enter(const OpenPart& open);
  Result<std::optional<Part>> restrict(const Part& parent,
                                       std::shared_ptr<const RestrictedProblem> source,
                                       std::span<const uint8_t> keep);
  Status visit(Part part, bool is_root);
  // The labels of a part that the relaxation does not prove too expensive and that still fit the
  // budgets, and the part that remains after presolving them. No part: no labelling is left.
  struct Rest {
    std::shared_ptr<const RestrictedProblem> source;
    std::optional<Part> part;
  };
  Result<Rest> without_dear_labels(Part& part, const Relaxation& relaxation);
  std::vector<double> prices_of_rows(const Part& part) const;
  void split(const Part& part, const Relaxation& relaxation,
             std::shared_ptr<const RestrictedProblem> source);

  // budget_fronts.cc
  Status look_at_fronts(Part& part);

  // budget_likely.cc
  struct Likely;
  Status look_among_likely(Part& part);
  Result<bool> solve_likely(Likely& likely);
  struct Core;
  Result<std::optional<Part>> begin_among_likely(Part part);
  uint32_t first_sweeps(const Part& part, Relaxation& relaxation) const;
  Status sweep_all(Part& part, Relaxation& relaxation, uint32_t sweeps);
  Status solve_core(const Part& part, Core& core, bool is_last = false);
  bool few_left(const Part& part, Relaxation& relaxation) const;

  // budget_rounds.cc
  struct Lane;
  Status branch_in_rounds();
  void assign(std::span<Lane> lanes);
  Status run_round(std::span<Lane> lanes);
  static Status descend(Lane& lane);
  void merge(Lane& lane);

  void keep_prices(const Part& part, const Relaxation& relaxation);
  Status settle_without_budgets(const Part& part);
  Result<Verdict> tighten(Part& part, Relaxation& relaxation, bool is_root);
  Result<bool> move_prices(Part& part, Packer& packer, Relaxation& relaxation, bool by_bundle);
  double goal(const Part& part, const Relaxation& relaxation) const;
  Status pack(const Part& part, Packer& packer, Relaxation& relaxation);
  Status combine(const Part& part, Packer& packer, Relaxation& relaxation);
  Status observe(const Part& part, Relaxation& relaxation, const Packer& packer, bool is_root);
  // `bound`: the known lower bound of the whole problem.
  Status improve(double bound, uint64_t work_on_lanes);

  Search& search_;
  const PlacementProblem& root_;
  const bool is_rough_;
  std::vector<BudgetRows::Point> points_;                 // the points of the root's rows
  std::shared_ptr<const std::vector<uint32_t>> classes_;  // equal_variables() of the root
  OpenParts<OpenPart> open_;
  bool begun_among_likely_ = false;          // began among likely labels, with their prices
  bool descending_ = false;                  // take the last of open_ next
  uint64_t dives_ = 0;                       // number of finished dives of a rough search
  std::shared_ptr<const Stage> root_stage_;  // null: on a lane, or rough
  std::shared_ptr<const BudgetRows> root_rows_;
  std::unique_ptr<Improver> improver_;  // created once the search takes long
  uint64_t improved_at_ = 0;            // Watch::cells() after the last improvement
  uint64_t lane_cells_ = 0;             // work of lanes, which have watches of their own
  uint64_t front_cells_ = 0;            // work of look_at_fronts()
};

}  // namespace shw::solver
