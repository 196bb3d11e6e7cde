// From the presolved problem to a proof.
//
// Sweeps tighten a part of the problem until they stall. Labels that cannot improve on the
// incumbent are dropped, and the rest is presolved again with the messages applied. Parts of small
// width are solved by exact elimination. The others are split in two at one label of one variable:
// the variable has that label, or any other. The search is depth first, the more promising half
// first.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "solver/eliminate.h"
#include "solver/fold_layers.h"
#include "solver/open_parts.h"
#include "solver/parameters.h"
#include "solver/search.h"
#include "solver/survey.h"

namespace shw::solver {
namespace {

using namespace parameters::close;

struct Open {
  std::shared_ptr<const Stage> parent;
  std::shared_ptr<const RestrictedProblem> source;  // a subset of the parent's labels
  uint32_t variable, label;
  bool equal;    // x_variable = label, or ≠
  double bound;  // the parent's
};

// Chooses a variable and a label, both of `rest` (the labels that may improve on the incumbent).
// Prefers undecided variables (the second-best label is nearly as good) whose label costs more than
// the relaxation requires and that have many neighbours: these cause the gap.
std::pair<uint32_t, uint32_t> choose_split(const RestrictedProblem& rest, const Trws& trws) {
  const PlacementProblem& problem = rest.problem;
  std::vector<uint32_t> degree(problem.num_variables(), 0);
  for (const auto& e : problem.edges()) ++degree[e.a], ++degree[e.b];
  uint32_t best_variable = 0, best_label = 0;
  double best_score = -1;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    if (problem.num_labels(v) < 2) continue;
    const auto marginals = trws.marginals(v);
    const auto labels = trws.labels(v);
    const auto x = std::ranges::min_element(marginals) - marginals.begin();
    double second = kForbidden, paid = 0;
    for (ptrdiff_t y = 0; y < std::ssize(marginals); ++y) {
      if (y != x) second = std::min(second, marginals[static_cast<size_t>(y)]);
      if (!trws.choice().empty() && labels[static_cast<size_t>(y)] == trws.choice()[v])
        paid = marginals[static_cast<size_t>(y)];
    }
    const double score = (1 + paid) * degree[v] / (1 + second);
    if (score <= best_score) continue;
    const auto kept = std::span(rest.label).subspan(problem.first_label(v), problem.num_labels(v));
    best_score = score;
    best_variable = v;
    best_label = static_cast<uint32_t>(
        std::ranges::lower_bound(kept, labels[static_cast<size_t>(x)]) - kept.begin());
    best_label = std::min(best_label, problem.num_labels(v) - 1);
  }
  return {best_variable, best_label};
}

std::shared_ptr<const RestrictedProblem> all_labels(const PlacementProblem& problem) {
  RestrictedProblem all{problem.share(), {}};
  for (uint32_t v = 0; v < problem.num_variables(); ++v)
    for (uint32_t i = 0; i < problem.num_labels(v); ++i) all.label.push_back(i);
  return std::make_shared<const RestrictedProblem>(std::move(all));
}

class Closer {
 public:
  explicit Closer(Search& search)
      : search_(search),
        early_(search.options().table_budget_bytes > 0),
        copies_help_(early_),
        open_(search) {}

  Status run(std::shared_ptr<const Stage> root) {
    SHW_RETURN_IF_ERROR(visit(std::move(root), -kForbidden, search_.options().max_sweeps));
    if (!open_.empty()) core_ = open_.last().parent;
    while (!open_.empty() && !stopped()) {
      const Open next = open_.take_last();
      if (open_.prune(next.bound)) continue;
      ++search_.stats().branch_nodes;
      SHW_RETURN_IF_ERROR(enter(next));
      SHW_RETURN_IF_ERROR(search_.raise_bound(open_.bound()));
    }
    if (!open_.empty() && !search_.watch().expired()) {
      SHW_ASSIGN_OR_RETURN(const bool settled,
                           close_with_lp_solve(search_, *core_, kMaxMilpBinaries));
      if (settled) open_.settle(std::min(abandoned_core_bound_, search_.cutoff()));
    }
    return search_.raise_bound(open_.bound());
  }

 private:
  bool stopped() const {
    return search_.watch().expired() ||
           search_.stats().branch_nodes >= search_.options().max_branch_nodes;
  }

  Status enter(const Open& open) {
    const PlacementProblem& p = open.source->problem;
    std::vector<uint8_t> keep(p.first_label(p.num_variables()), 1);
    for (uint32_t i = 0; i < p.num_labels(open.variable); ++i)
      keep[p.first_label(open.variable) + i] = (i == open.label) == open.equal;
    auto stage = search_.restrict(open.parent, open.source, keep);
    if (stage.ok()) return visit(std::move(*stage), open.bound, kNodeSweeps);
    return stage.status().code() == Code::kFailedPrecondition ? Status() : stage.status();
  }

  Status visit(std::shared_ptr<const Stage> stage, double bound, uint32_t max_sweeps);
  Result<bool> try_elimination(const Stage& stage, double bound, uint64_t max_cells);
  Result<bool> split_by_copies(const std::shared_ptr<const Stage>& stage, double& bound);
  void split(const std::shared_ptr<const Stage>& parent,
             const std::shared_ptr<const RestrictedProblem>& source, uint32_t variable,
             uint32_t label, double bound) {
    for (const bool equal : {false, true})
      open_.add({parent, source, variable, label, equal, bound});
  }
  Result<Verdict> sweep(const Stage& stage, Trws& trws, uint32_t max_sweeps, bool is_root);
  Result<Verdict> sweep_root(const Stage& stage, Trws& trws);
  Result<std::vector<uint32_t>> likely_labelling(const PlacementProblem& problem, Trws& trws,
                                                 uint64_t cells);
  Result<bool> start_folded(const Stage& stage, Trws& trws);

  double stall_share(const Stage& stage) const {
    return early_ && stage.problem.num_variables() >= kManyVariables ? kEarly : kLate;
  }

  Search& search_;
  bool early_;        // sweeps have not stalled yet
  bool copies_help_;  // elimination with copies has closed much of the gap, or was not tried
  std::shared_ptr<const Stage> core_;         // the stage that branching started with
  double abandoned_core_bound_ = kForbidden;  // the abandoned bound at that time
  OpenParts<Open> open_;                      // the last is next
};

// True: the stage is finished.
Result<bool> Closer::try_elimination(const Stage& stage, double bound, uint64_t max_cells) {
  const PlacementProblem& p = stage.problem;
  SHW_ASSIGN_OR_RETURN(
      const std::optional<EliminationPlan> plan,
      plan_elimination(p, search_.options().table_budget_bytes, max_cells, search_.watch()));
  if (!plan) return false;
  SHW_ASSIGN_OR_RETURN(const Eliminated found, eliminate(p, *plan, kUnlimited, search_.watch()));
  if (found.choice.size() == p.num_variables()) {
    search_.offer(stage, found.choice);
  } else {
    open_.abandon(bound);  // the time limit expired
  }
  return true;
}

// For a stage that is too wide for exact elimination: raises the bound, and splits the variable
// whose copies disagree most. False: not split.
Result<bool> Closer::split_by_copies(const std::shared_ptr<const Stage>& stage, double& bound) {
  if (!copies_help_) return false;
  const PlacementProblem& p = stage->problem;
  SHW_ASSIGN_OR_RETURN(const std::optional<EliminationPlan> plan,
                       plan_elimination(p, kUnlimited, kUnlimited, search_.watch()));
  SHW_ASSIGN_OR_RETURN(const Eliminated found,
                       eliminate(p, *plan, kMaxCopiedTableCells, search_.watch()));
  if (found.choice.empty()) return false;  // the time limit expired
  search_.offer(*stage, found.choice);
  const double before = bound;
  bound = std::max(bound, stage->constant + found.bound);
  copies_help_ = bound - before >= kWorthCopies * (search_.cost() - before);
  if (!copies_help_ || !found.disputed || bound >= search_.cutoff()) return false;
  split(stage, all_labels(p), *found.disputed, found.choice[*found.disputed], bound);
  return true;
}

// The best labelling of the most promising part; empty: none was found.
Result<std::vector<uint32_t>> Closer::likely_labelling(const PlacementProblem& problem, Trws& trws,
                                                       uint64_t cells) {
  SHW_RETURN_IF_ERROR(
      trws.sweep());  // there are no marginals if labels were dropped after the last sweep
  SolveOptions options = search_.options();
  options.max_branch_nodes = std::min(options.max_branch_nodes, kLikelyBranchNodes);
  return best_of(likely_part(problem, marginals_by_label(problem, trws), cells), options,
                 search_.watch());
}

// If layers repeat, takes messages and a labelling from the folded root. False: no layers repeat,
// the folded root has no labelling, or the first sweeps suffice.
Result<bool> Closer::start_folded(const Stage& stage, Trws& trws) {
  if (search_.options().relative_gap > kFoldedGap) return false;
  const std::optional<FoldedLayers> folding = fold_layers(stage.problem, kFoldMargin);
  if (!folding) return false;
  Trws folded(folding->problem, search_.watch());
  double stall_bound = -kForbidden;
  for (uint32_t i = 1; i <= kFoldedSweeps && !search_.watch().expired(); ++i) {
    SHW_RETURN_IF_ERROR(folded.sweep_rounded());
    if (i % 8 != 0) continue;
    if (folded.bound() - stall_bound < kFoldedStallShare * std::abs(folded.bound())) break;
    stall_bound = folded.bound();
  }
  SHW_ASSIGN_OR_RETURN(const std::vector<uint32_t> few,
                       likely_labelling(folding->problem, folded, kFoldedLikelyCells));
  trws.take_messages(folded, folding->edge);
  if (few.empty()) return false;
  std::vector<uint32_t> choice;
  for (const uint32_t v : folding->variable) choice.push_back(few[v]);
  search_.offer(stage, choice);
  return true;
}

// Sweeps a large root to convergence, with the cutoff that its most promising part yields.
Result<Verdict> Closer::sweep_root(const Stage& stage, Trws& trws) {
  const uint32_t most = search_.options().max_sweeps;
  if (trws.cells() < kLargeCells)
    return search_.tighten(stage, trws, most, stall_share(stage), true);
  SHW_ASSIGN_OR_RETURN(const bool is_folded, start_folded(stage, trws));
  SHW_ASSIGN_OR_RETURN(
      Verdict verdict,
      search_.tighten(stage, trws, std::min(is_folded ? kUnfoldedSweeps : kFirstSweeps, most),
                      stall_share(stage), true, /*exact_every=*/most + 1));
  for (int round = 0; round < kLikelyRounds && verdict == Verdict::kStalled; ++round) {
    const double before = search_.cost();
    if (round > 0 || !is_folded) {
      SHW_ASSIGN_OR_RETURN(const std::vector<uint32_t> choice,
                           likely_labelling(stage.problem, trws, kLikelyCells));
      if (!choice.empty()) search_.offer(stage, choice);
    }
    if (round > 0 && search_.cost() == before) break;
    SHW_ASSIGN_OR_RETURN(const bool possible, trws.drop_labels(search_.cutoff() - stage.constant));
    if (!possible) return Verdict::kClosed;
    SHW_ASSIGN_OR_RETURN(verdict,
                         search_.tighten(stage, trws, most, stall_share(stage), true, kExactEvery));
  }
  return verdict;
}

// Sweeps until the part is closed or the bound has stalled.
Result<Verdict> Closer::sweep(const Stage& stage, Trws& trws, uint32_t max_sweeps, bool is_root) {
  SHW_ASSIGN_OR_RETURN(Verdict verdict, is_root ? sweep_root(stage, trws)
                                                : search_.tighten(stage, trws, max_sweeps,
                                                                  stall_share(stage), false));
  if (verdict != Verdict::kStalled || !std::exchange(early_, false) ||
      trws.cells_below(search_.cutoff() - stage.constant) <=
          parameters::search::kFewCellsOfEdge * stage.problem.edges().size())
    return verdict;
  return search_.tighten(stage, trws, max_sweeps, kLate, is_root);
}

// Closes the stage, or adds its two halves to open_.
Status Closer::visit(std::shared_ptr<const Stage> stage, double bound, uint32_t max_sweeps) {
  const bool is_root = bound == -kForbidden;
  for (;;) {
    const PlacementProblem& p = stage->problem;
    const uint64_t labels = p.first_label(p.num_variables());
    if (labels <= kEasyLabelsPerVariable * p.num_variables()) {
      SHW_ASSIGN_OR_RETURN(const bool done, try_elimination(*stage, bound, kEasyCells));
      if (done) return {};
    }
    Trws trws(p, search_.watch());
    SHW_ASSIGN_OR_RETURN(const Verdict verdict, sweep(*stage, trws, max_sweeps, is_root));
    bound = std::max(bound, stage->constant + trws.bound());
    if (open_.prune(bound)) return {};
    if (verdict == Verdict::kExpired) {
      open_.abandon(bound);
      return {};
    }
    SHW_ASSIGN_OR_RETURN(RestrictedProblem kept,
                         trws.restricted(search_.cutoff() - stage->constant));
    const auto source = std::make_shared<const RestrictedProblem>(std::move(kept));
    open_.abandon(search_.cutoff());  // for labels that the stage has dropped
    auto rest = search_.restrict(stage, source, {});
    if (!rest.ok())
      return rest.status().code() == Code::kFailedPrecondition ? Status() : rest.status();
    const PlacementProblem& q = (*rest)->problem;
    if (verdict == Verdict::kFewLeft) {
      SHW_ASSIGN_OR_RETURN(const bool done, try_elimination(**rest, bound, kFewLeftCells));
      if (done) return {};
    }
    if (verdict == Verdict::kStalled) {
      search_.stats().core_variables = std::max(search_.stats().core_variables, q.num_variables());
      SHW_ASSIGN_OR_RETURN(const bool done, try_elimination(**rest, bound, kMaxEliminationCells));
      if (done) return {};
      if (is_root) abandoned_core_bound_ = open_.abandoned_bound();
      if (10 * q.first_label(q.num_variables()) > 9 * labels) {
        SHW_ASSIGN_OR_RETURN(const bool is_split, split_by_copies(*rest, bound));
        if (is_split || open_.prune(bound)) return {};
        const auto [v, label] = choose_split(*source, trws);
        split(stage, source, v, label, bound);
        return {};
      }
    }
    stage = std::move(*rest);
  }
}

}  // namespace

Status close_gap(Search& search, std::shared_ptr<const Stage> root) {
  return Closer(search).run(std::move(root));
}

}  // namespace shw::solver
