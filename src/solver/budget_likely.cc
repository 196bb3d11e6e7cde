// Finds a rough answer to a large problem with budgets, restricted to its likely labels.
//
// If many labels cost nearly the same, as on a mesh of three small dims, bounds cannot exclude any
// of them, and a branch and bound sweeps over all of them to the end. A rough answer needs only
// few. The algorithm alternates two phases: sweeps over all labels at given prices determine the
// likely labels and a bound; the problem among these few labels is then solved, which gives a
// labelling and better prices.
#include <algorithm>

#include "solver/budget_close.h"
#include "solver/parameters.h"
#include "solver/recombine.h"
#include "solver/survey.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

using namespace parameters::budget_likely;

// The labels of the lowest min-marginals, with about this many cells.
std::vector<uint8_t> likely_labels(const PlacementProblem& p, const Trws& trws, uint64_t cells) {
  const std::vector<double> marginals = marginals_by_label(p, trws);
  const double limit = likely_limit(p, marginals, cells);
  std::vector<uint8_t> likely(marginals.size());
  for (size_t i = 0; i < likely.size(); ++i) likely[i] = marginals[i] <= limit;
  return likely;
}

// By label: its usage, summed over all rows.
std::vector<double> usage_by_label(const PlacementProblem& p, const BudgetRows& rows) {
  std::vector<double> usage(p.first_label(p.num_variables()), 0);
  for (const BudgetRows::Use& use : rows.uses())
    for (uint32_t i = 0; i < p.num_labels(use.variable); ++i)
      usage[p.first_label(use.variable) + i] +=
          rows.excess(use)[i] * static_cast<double>(use.end_row - use.first_row);
  return usage;
}

// Adds each variable's label of least usage, so that some labelling is within the budgets.
void add_least_usage(const PlacementProblem& p, std::span<const double> usage, const Trws& trws,
                     std::vector<uint8_t>& labels) {
  for (uint32_t v = 0; v < p.num_variables(); ++v) {
    const auto left = trws.labels(v);
    uint32_t best = 0;
    const auto rank = [&](uint32_t i) {
      return std::pair(usage[p.first_label(v) + left[i]], trws.marginals(v)[i]);
    };
    for (uint32_t i = 1; i < left.size(); ++i)
      if (rank(i) < rank(best)) best = i;
    labels[p.first_label(v) + left[best]] = 1;
  }
}

}  // namespace

struct BudgetCloser::Likely {
  const Part& part;
  std::vector<double> prices;  // by row of the part
  Relaxation relaxation;       // of all labels
  std::vector<uint32_t> best;  // the best labelling so far, as labels of the part
};

// False: another turn would not improve the answer.
Result<bool> BudgetCloser::solve_likely(Likely& likely) {
  const Part& part = likely.part;
  const PlacementProblem& p = part.stage->problem;
  const SolveOptions& options = search_.options();
  std::vector<uint8_t> labels = likely_labels(p, likely.relaxation.trws(), options.likely_cells);
  add_least_usage(p, usage_by_label(p, *part.rows), likely.relaxation.trws(), labels);
  const double before = search_.cost();
  const Watch::WorkLimit limit(search_.watch(), kWorkPerCell * options.likely_cells);
  SHW_ASSIGN_OR_RETURN(
      Recombined made,
      recombine(p, *part.rows, labels, likely.best,
                {options.relative_gap, options.max_branch_nodes, likely.prices}, search_.watch()));
  if (!made.choice.empty()) {
    likely.best = std::move(made.choice);
    search_.offer(*part.stage, likely.best);
  }
  if (made.prices.empty()) return false;
  likely.prices = std::move(made.prices);
  return before == kForbidden || search_.cost() < (1 - kWorthATurn) * before;
}

Status BudgetCloser::look_among_likely(Part& part) {
  const PlacementProblem& p = part.stage->problem;
  const std::vector<double> prices = prices_of_rows(part);
  Likely likely{part, prices, Relaxation(p, *part.rows, prices, search_.watch()), {}};
  Relaxation& relaxation = likely.relaxation;
  for (uint32_t turn = 0; turn < kTurns; ++turn) {
    if (turn > 0) relaxation.set_prices(likely.prices);
    SHW_RETURN_IF_ERROR(
        sweep_all(part, relaxation, turn == 0 ? kFirstLikelySweeps : kLaterLikelySweeps));
    if (part.bound >= search_.cutoff()) break;
    SHW_ASSIGN_OR_RETURN(const bool goes_on, solve_likely(likely));
    if (!goes_on || search_.watch().expired()) break;
  }
  keep_prices(part, relaxation);
  return search_.raise_bound(part.bound);
}

// The last sweep reads exact costs, for its marginals.
Status BudgetCloser::sweep_all(Part& part, Relaxation& relaxation, uint32_t sweeps) {
  for (uint32_t left = sweeps; left > 0; --left) {
    SHW_RETURN_IF_ERROR(relaxation.sweep(/*is_rounded=*/left > 1).status());
    ++search_.stats().sweeps;
  }
  part.bound = std::max(part.bound, part.stage->constant + relaxation.bound());
  return {};
}

// A small subset of the labels of a huge part, which grows with every turn.
struct BudgetCloser::Core {
  std::vector<uint8_t> labels;  // a flag per label of the part
  std::vector<double> prices;   // by row of the part
  std::vector<uint32_t> best;   // the best labelling so far, as labels of the part; empty: none

  void add(const PlacementProblem& p, std::span<const uint32_t> choice) {
    for (uint32_t v = 0; v < choice.size(); ++v) labels[p.first_label(v) + choice[v]] = 1;
  }
  void add(const PlacementProblem& p, const Trws& trws, const Packer& packer) {
    const std::vector<uint8_t> likely =
        likely_labels(p, marginals_by_label(p, trws), kCoreShare, LikelyBy::kRank);
    for (size_t i = 0; i < labels.size(); ++i) labels[i] |= likely[i];
    add(p, trws.choice());
    if (best.empty()) add(p, packer.choice());
    if (best.empty() && packer.best_cost() != kForbidden) best = packer.best();
  }
};

// Takes the messages of the warm start. If it has nearly all of them, variables and prices are
// those of its last sweep, so one more sweep reproduces the result of that sweep.
uint32_t BudgetCloser::first_sweeps(const Part& part, Relaxation& relaxation) const {
  const WarmStart* warm = search_.options().warm;
  if (warm == nullptr || warm->messages == nullptr) return kFirstLikelySweeps;
  const double known = warm->messages->give(root_, part.stage->undo, relaxation.trws());
  return known > kAllKnown ? 1 : kLaterLikelySweeps;
}

// Solves the problem among the labels of the core, no more precisely than the gap of the whole
// problem justifies. Sets the prices for the next sweeps.
Status BudgetCloser::solve_core(const Part& part, Core& core, bool is_last) {
  const PlacementProblem& p = part.stage->problem;
  const double open = is_last           ? 0
                      : search_.found() ? kCoreGap * (1 - part.bound / search_.cost())
                                        : kFirstCoreGap;
  const Watch::WorkLimit limit(search_.watch(),
                               (is_last ? kLastCoreSweeps : kCoreSweeps) * edge_cells(p));
  SHW_ASSIGN_OR_RETURN(
      Recombined made,
      recombine(p, *part.rows, core.labels, core.best,
                {.relative_gap = std::max(search_.options().relative_gap, open),
                 .max_branch_nodes = is_last ? search_.options().max_branch_nodes : 0,
                 .prices = core.prices,
                 .is_rough = false},
                search_.watch()));
  if (!made.prices.empty()) core.prices = std::move(made.prices);
  if (made.choice.empty()) return {};
  core.best = std::move(made.choice);
  search_.offer(*part.stage, core.best);
  return {};
}

// Alternates two phases, as in column generation: a few sweeps over all labels at given prices
// determine the likely ones, and the problem among these and those of earlier turns is solved. So
// prices move where steps are cheap, and sweeps over all labels only give the bound. It ends when
// the bound proves most labels too expensive, and returns the part with the remaining labels.
// nullopt: no labels remain.
Result<std::optional<Part>> BudgetCloser::begin_among_likely(Part part) {
  const PlacementProblem& p = part.stage->problem;
  Core core{std::vector<uint8_t>(p.first_label(p.num_variables()), 0), prices_of_rows(part), {}};
  if (search_.found()) core.best = labels_in(*part.stage, search_.choice());
  Relaxation relaxation(p, *part.rows, core.prices, search_.watch());
  Packer packer(p, *part.rows);
  const std::vector<double> usage = usage_by_label(p, *part.rows);
  double open = kForbidden;  // gap at the turn before
  uint32_t sweeps = first_sweeps(part, relaxation);
  for (uint32_t turn = 0; turn < kMostTurns; ++turn) {
    SHW_RETURN_IF_ERROR(sweep_all(part, relaxation, sweeps));
    sweeps = kLaterLikelySweeps;
    // Packing only finds the first labelling; later, those of the cores are cheaper.
    if (core.best.empty()) SHW_RETURN_IF_ERROR(pack(part, packer, relaxation));
    SHW_RETURN_IF_ERROR(search_.watch().report(search_.cost(), part.bound));
    const double gap = search_.cost() - part.bound;
    if (part.bound >= search_.cutoff() || search_.watch().expired() || few_left(part, relaxation) ||
        gap > kStalledTurn * open)
      break;
    open = gap;
    core.add(p, relaxation.trws(), packer);
    add_least_usage(p, usage, relaxation.trws(), core.labels);
    SHW_RETURN_IF_ERROR(solve_core(part, core));
    if (part.bound >= search_.cutoff()) break;
    relaxation.set_prices(core.prices);
  }
  for (size_t r = 0; r < part.rows->size(); ++r)
    part.prices[part.rows->origin(r)] = relaxation.best_prices()[r];
  keep_prices(part, relaxation);
  search_.record_floors(*part.stage, relaxation.trws(), relaxation.offset());
  search_.keep_messages(*part.stage, relaxation.trws());
  if (open_.prune(part.bound)) return {std::nullopt};
  if (!few_left(part, relaxation)) SHW_RETURN_IF_ERROR(solve_core(part, core, /*is_last=*/true));
  if (!few_left(part, relaxation)) return {std::move(part)};
  SHW_ASSIGN_OR_RETURN(Rest left, without_dear_labels(part, relaxation));
  return {std::move(left.part)};
}

// Whether the sweeps prove that most labels are in no labelling cheaper than the incumbent. The
// tolerated gap is not used here: if it is wide, another core finds an answer within it sooner than
// branching.
bool BudgetCloser::few_left(const Part& part, Relaxation& relaxation) const {
  const double limit = search_.cost() - part.stage->constant + relaxation.offset();
  const Trws& trws = relaxation.trws();
  return static_cast<double>(trws.cells_below(limit)) <
         kFewLeft * static_cast<double>(trws.cells());
}

}  // namespace shw::solver
