// Closing the gap that sweeps leave: exact elimination where its tables fit, else branch and bound.
//
// A node of the search is a stage with a reparametrised problem, so it starts where its parent's
// sweeps ended. It is tightened, stripped of labels that cannot improve on the incumbent, and, when
// neither that nor elimination settles it, split in two at one label of one variable: that label,
// or any other.
#include <algorithm>

#include "solver/decode.h"
#include "solver/eliminate.h"
#include "solver/search.h"

namespace shw::solver {
namespace {

constexpr uint32_t kNodeSweeps = 60;
constexpr uint64_t kMaxEliminationCells = 1ull << 31;  // a few seconds
constexpr uint64_t kMaxMilpBinaries = 2000;            // beyond that lp_solve does not come back

struct Open {
  std::shared_ptr<const Stage> parent;
  std::shared_ptr<const PlacementProblem> source;  // the parent's problem, reparametrised
  uint32_t variable, label;
  bool equal;    // x_variable = label, or ≠
  double bound;  // of the parent
};

struct Split {
  uint32_t variable = 0, label = 0;
};

// Where the labelling pays more than the relaxation thinks necessary, as that is what makes the
// gap. `choice` are the labels that the sweep read off.
Split choose_split(const PlacementProblem& problem, const Trws& trws) {
  Split best;
  double best_score = -1;
  std::vector<uint32_t> degree(problem.num_variables(), 0);
  for (const auto& e : problem.edges()) ++degree[e.a], ++degree[e.b];
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    const auto marginals = trws.marginals(v);
    if (marginals.size() < 2) continue;
    const auto x = static_cast<uint32_t>(std::ranges::min_element(marginals) - marginals.begin());
    double second = kForbidden;
    for (uint32_t y = 0; y < marginals.size(); ++y)
      if (y != x) second = std::min(second, marginals[y]);
    // Undecided first (a small second-best marginal), and among those what touches most.
    const double paid = trws.choice().empty() ? 0 : marginals[trws.choice()[v]];
    const double score = (1 + paid) * degree[v] / (1 + second);
    if (score > best_score) best_score = score, best = {v, x};
  }
  return best;
}

class Closer {
 public:
  explicit Closer(Search& search) : search_(search) {}

  Status run(std::shared_ptr<const Stage> core) {
    core_ = core;
    left_ = search_.cutoff();  // the labels that the core lacks
    SHW_RETURN_IF_ERROR(visit(std::move(core), search_.bound()));
    while (!open_.empty() && !stopped()) {
      const Open next = std::move(open_.back());
      open_.pop_back();
      if (give_up(next.bound)) continue;
      ++search_.stats().branch_nodes;
      SHW_RETURN_IF_ERROR(enter(next));
      SHW_RETURN_IF_ERROR(search_.raise_bound(open_bound()));
    }
    if (!open_.empty() && !search_.watch().expired()) {
      SHW_ASSIGN_OR_RETURN(const bool settled,
                           close_with_lp_solve(search_, *core_, kMaxMilpBinaries));
      if (settled) open_.clear(), left_ = search_.cutoff();
    }
    return search_.raise_bound(open_bound());
  }

 private:
  bool stopped() const {
    return search_.watch().expired() ||
           search_.stats().branch_nodes >= search_.options().max_branch_nodes;
  }
  // True when the bound of a part says that it holds nothing worth finding.
  bool give_up(double bound) {
    if (bound < search_.cutoff()) return false;
    left_ = std::min(left_, bound);
    return true;
  }
  // Every labelling is the incumbent or dearer, or lies in a part that is still open or was left.
  double open_bound() const {
    double bound = std::min(search_.cost(), left_);
    for (const Open& o : open_) bound = std::min(bound, o.bound);
    return bound;
  }

  Status enter(const Open& open) {
    const PlacementProblem& p = *open.source;
    std::vector<uint8_t> keep(p.first_label(p.num_variables()), 1);
    const uint64_t first = p.first_label(open.variable);
    for (uint32_t i = 0; i < p.num_labels(open.variable); ++i)
      keep[first + i] = (i == open.label) == open.equal;
    auto stage = search_.restrict(open.parent, open.source, keep);
    if (!stage.ok())
      return stage.status().code() == Code::kFailedPrecondition ? Status() : stage.status();
    return visit(std::move(*stage), open.bound);
  }

  // Settles the stage or leaves its two halves in open_.
  Status visit(std::shared_ptr<const Stage> stage, double bound) {
    for (;;) {
      const PlacementProblem& p = stage->problem;
      search_.stats().core_variables = std::max(search_.stats().core_variables, p.num_variables());
      if (const auto plan =
              plan_elimination(p, search_.options().table_budget_bytes, kMaxEliminationCells)) {
        SHW_ASSIGN_OR_RETURN(const std::vector<uint32_t> choice,
                             eliminate(p, *plan, search_.watch()));
        if (choice.size() == p.num_variables())
          search_.offer(*stage, choice);
        else
          left_ = std::min(left_, bound);
        return {};
      }
      Trws trws(p, search_.watch());
      SHW_RETURN_IF_ERROR(search_.tighten(*stage, trws, kNodeSweeps, false));
      bound = std::max(bound, stage->constant + trws.bound());
      if (give_up(bound)) return {};
      if (search_.watch().expired()) {
        left_ = std::min(left_, bound);
        return {};
      }
      auto source = std::make_shared<const PlacementProblem>(trws.reparametrized());
      const std::vector<uint8_t> keep = trws.labels_within(search_.cutoff() - stage->constant);
      const auto dropped = static_cast<size_t>(std::ranges::count(keep, 0));
      if (dropped * 10 >= keep.size()) {  // much smaller: try again before branching
        left_ = std::min(left_, search_.cutoff());
        auto smaller = search_.restrict(stage, source, keep);
        if (!smaller.ok())
          return smaller.status().code() == Code::kFailedPrecondition ? Status() : smaller.status();
        stage = std::move(*smaller);
        continue;
      }
      const Split split = choose_split(p, trws);
      open_.push_back({stage, source, split.variable, split.label, false, bound});
      open_.push_back({stage, source, split.variable, split.label, true, bound});
      return {};
    }
  }

  Search& search_;
  std::shared_ptr<const Stage> core_;
  std::vector<Open> open_;    // the last is next
  double left_ = kForbidden;  // the smallest bound of a part that was left without solving it
};

}  // namespace

Status close_gap(Search& search, std::shared_ptr<const Stage> core) {
  return Closer(search).run(std::move(core));
}

}  // namespace shw::solver
