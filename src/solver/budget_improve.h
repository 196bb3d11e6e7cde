// Improves the incumbent of a branch and bound with budgets while that runs: by local search, and
// by recombining labellings that were found. Takes about as much work as the branch and bound, and
// less while it finds nothing.
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
  // `root`: the presolved root problem. `num_points`: the number of points that its rows originate
  // from.
  Improver(Search& search, std::shared_ptr<const Stage> root,
           std::shared_ptr<const BudgetRows> rows, size_t num_points);

  // A part whose relaxation and labellings the improvement can use.
  struct Source {
    const PlacementProblem& problem;
    const BudgetRows& rows;
    const RootLabels& root;
    double bound;
    bool is_root;  // prices and marginals hold for the whole problem
  };
  Status observe(const Source& part, Relaxation& relaxation, const Packer& packer);
  // Takes about as much work as was done elsewhere since the last call.
  Status run(uint64_t work_elsewhere);

 private:
  // By label of a part: its index among the root stage's labels; kNone: the root stage does not
  // have it.
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
  // By label: the marginals of the root's relaxation; −kForbidden for labels of a variable that
  // presolve eliminated.
  std::vector<double> marginals_;
  double core_share_;  // share of the labels that are recombined in any case
  LikelyBy likely_by_;
  double started_at_ = kForbidden;  // the incumbent's cost when local_ was last started
  double share_ = 1;                // of the branch and bound's work, for local search
  // Recombination: the work elsewhere since the last one, and the work to wait for.
  uint64_t waited_ = 0, due_ = 0, runs_ = 0, core_patience_ = 1;
};

}  // namespace shw::solver
