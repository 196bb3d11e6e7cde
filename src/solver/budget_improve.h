// Improves the incumbent of a branch and bound with budgets beside it: by local search, and by
// recombining what was found. Takes as much work as the branch and bound, and less while that finds
// nothing.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solver/budget_count.h"
#include "solver/budget_rows.h"
#include "solver/local_search.h"
#include "solver/pack.h"
#include "solver/recombine.h"
#include "solver/relaxation.h"
#include "solver/search.h"

namespace shw::solver {

class Improver {
 public:
  // Of the presolved root problem; `num_points`: of its rows' origins.
  Improver(Search& search, std::shared_ptr<const Stage> root,
           std::shared_ptr<const BudgetRows> rows, size_t num_points);

  // What a part knows: its relaxation and its recent labellings.
  struct Source {
    const PlacementProblem& problem;
    const BudgetRows& rows;
    const RootLabels& root;
    double bound;
    bool is_root;  // its prices and marginals are those of the whole problem
  };
  Status observe(const Source& part, Relaxation& relaxation, const Packer& packer);
  // Works for about as long as has been worked elsewhere since the last time.
  Status run(uint64_t work_elsewhere);

 private:
  // By label of a part: its index among the root stage's labels; kNone: it is not there.
  static constexpr uint64_t kNone = UINT64_MAX;
  std::vector<uint64_t> labels_here(const Source& part) const;
  void admit_eliminated(const Source& part);
  Status find_first(const Source& part, Relaxation& relaxation);
  Status recombine_found();
  void offer();

  Search& search_;
  const std::shared_ptr<const Stage> root_;
  const std::shared_ptr<const BudgetRows> rows_;
  const size_t num_points_;
  LocalSearch local_;
  std::vector<double> prices_;           // by row, of the root's relaxation
  std::vector<uint32_t> variable_here_;  // by variable of the input
  std::vector<uint8_t> marked_;          // by label: some labelling found has it
  // By label, of the root's relaxation; −kForbidden: of a variable that it has eliminated.
  std::vector<double> marginals_;
  double core_share_;  // of the labels that are recombined whatever was found
  LikelyBy likely_by_;
  double started_at_ = kForbidden;  // the cost that local_ started at
  double share_ = 1;                // of the work that the branch and bound takes
  // Of recombination: what has been worked elsewhere since, and what it waits for.
  uint64_t waited_ = 0, due_ = 0, runs_ = 0, core_patience_ = 1;
};

}  // namespace shw::solver
