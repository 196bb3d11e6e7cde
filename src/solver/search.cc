#include "solver/search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "solver/decode.h"
#include "solver/parameters.h"
#include "solver/survey.h"

namespace shw::solver {
namespace {

using namespace parameters::search;

// Whether rebuilding the tables without labels that cannot improve on the incumbent pays off within
// the expected number of further sweeps. Expected are a third of those done, but no more than would
// close the gap at the pace of the last sweep.
bool dropping_pays(const Trws& trws, double limit, size_t edges, uint32_t sweeps,
                   double sweeps_to_close) {
  const auto cells = static_cast<double>(trws.cells());
  const double expected = std::min(sweeps / 3.0, sweeps_to_close);
  if (kDropPerEdge * static_cast<double>(edges) > expected * cells) return false;
  const auto left = static_cast<double>(trws.cells_below(limit));
  return kDropPerCell * left + kDropPerEdge * static_cast<double>(edges) <
         expected * (cells - left);
}

std::shared_ptr<Stage> make_stage(Presolved&& presolved, double constant) {
  auto stage = std::make_shared<Stage>();
  stage->problem = std::move(presolved.problem);
  stage->constant = constant + presolved.constant;
  stage->undo = std::move(presolved.undo);
  return stage;
}

// With fewer cells left, presolve would remove most variables. Without it, a sweep takes its time
// for decided variables.
uint64_t few_cells(const PlacementProblem& problem) {
  return std::min<uint64_t>(kFewCellsOfEdge * problem.edges().size(), edge_cells(problem) / 2);
}

bool is_power_of_two(uint32_t n) { return (n & (n - 1)) == 0; }

}  // namespace

Search Search::fork(Watch& watch) const {
  Search other(root_, options_, watch);
  other.stage_bytes_ = stage_bytes_;
  other.adopt(*this);
  return other;
}

void Search::adopt(const Search& other) {
  if (other.cost_ >= cost_) return;
  cost_ = other.cost_;
  choice_ = other.choice_;
  found_ = other.found_;
  bound_ = std::min(bound_, cost_);
}

Status Search::raise_bound(double bound) {
  bound_ = std::min(std::max(bound_, bound), cost_);
  return watch_.report(cost_, bound_);
}

std::vector<uint32_t> labels_in(const Stage& root_stage, std::span<const uint32_t> choice) {
  std::vector<uint32_t> here;
  for (uint32_t v = 0; v < root_stage.problem.num_variables(); ++v) {
    const auto labels = root_stage.undo.original_labels(v);
    const auto at = std::ranges::find(labels, choice[root_stage.undo.original_variable(v)]);
    if (at == labels.end()) return {};
    here.push_back(static_cast<uint32_t>(at - labels.begin()));
  }
  return here;
}

Result<std::vector<uint32_t>> best_of(const RestrictedProblem& part, const SolveOptions& options,
                                      Watch& watch) {
  const Watch::Part quiet(watch);
  Search inner(part.problem, options, watch);
  const auto stage = inner.root_stage({});
  if (stage.status().code() == Code::kFailedPrecondition) return std::vector<uint32_t>();
  SHW_RETURN_IF_ERROR(stage.status());
  SHW_RETURN_IF_ERROR(close_gap(inner, *stage));
  std::vector<uint32_t> choice = inner.take_choice();
  for (uint32_t v = 0; v < choice.size(); ++v)
    choice[v] = part.label[part.problem.first_label(v) + choice[v]];
  return choice;
}

Result<std::vector<uint8_t>> Search::prefilter_labels() {
  std::vector<uint8_t> keep;
  if (table_cells(root_) <= options_.wide_cells) return keep;
  const auto solve_part = [&](const RestrictedProblem& core) -> Result<double> {
    SHW_ASSIGN_OR_RETURN(std::vector<uint32_t> choice, best_of(core, options_, watch_));
    take(std::move(choice));
    return cost_ == kForbidden ? kForbidden : cutoff();
  };
  const LikelyLabels likely{options_.wide_cells, solve_part};
  SHW_ASSIGN_OR_RETURN(Survey found, survey(root_, watch_, &likely));
  stats_.sweeps += found.sweeps;
  if (found.bound == kForbidden) return keep;  // presolve reports why
  take(std::move(found.choice));
  if (!found.leaves_few)
    SHW_RETURN_IF_ERROR(
        solve_part(likely_part(root_, found.marginals, options_.wide_cells)).status());
  SHW_RETURN_IF_ERROR(raise_bound(found.bound));
  if (std::exchange(keeps_floors_,
                    false))  // the remaining problem does not know the dropped labels
    for (const double m : found.marginals) floors_.push_back(found.bound + m);
  if (cost_ == kForbidden) return keep;
  for (const double m : found.marginals) keep.push_back(found.bound + m < cutoff());
  for (uint32_t v = 0; v < choice_.size(); ++v) keep[root_.first_label(v) + choice_[v]] = 1;
  return keep;
}

Result<std::shared_ptr<const Stage>> Search::root_stage(std::span<const uint8_t> keep,
                                                        std::span<const uint8_t> budgeted) {
  SHW_ASSIGN_OR_RETURN(Presolved presolved, presolve(root_, keep, {.budgeted = budgeted}, watch_));
  return std::shared_ptr<const Stage>(make_stage(std::move(presolved), 0));
}

Result<std::shared_ptr<const Stage>> Search::restrict(
    std::shared_ptr<const Stage> parent, std::shared_ptr<const RestrictedProblem> source,
    std::span<const uint8_t> keep, std::span<const uint8_t> budgeted) {
  SHW_ASSIGN_OR_RETURN(
      Presolved presolved,
      presolve(source->problem, keep, {.dominance = true, .budgeted = budgeted}, watch_));
  auto stage = make_stage(std::move(presolved), parent->constant);
  stage->parent = std::move(parent);
  stage->label = source->label;
  for (uint32_t v = 0; v < source->problem.num_variables(); ++v)
    stage->first_label.push_back(source->problem.first_label(v));
  stage->bytes = ByteCount(stage_bytes_, stage->problem.pool_bytes() + stage->undo.bytes());
  return std::shared_ptr<const Stage>(std::move(stage));
}

void Search::offer(const Stage& stage, std::span<const uint32_t> choice) {
  std::vector<uint32_t> lifted(choice.begin(), choice.end());
  for (const Stage* s = &stage; s != nullptr; s = s->parent.get()) {
    lifted = s->undo.expand(lifted);
    if (s->parent == nullptr) continue;
    for (uint32_t v = 0; v < lifted.size(); ++v)
      lifted[v] = s->label[s->first_label[v] + lifted[v]];
  }
  take(std::move(lifted));
}

void Search::take(std::vector<uint32_t> choice) {
  if (choice.size() != root_.num_variables()) return;
  const double cost = evaluate(root_, choice);
  if (cost >= cost_) return;
  cost_ = cost;
  choice_ = std::move(choice);
  found_ = true;
  bound_ = std::min(bound_, cost_);  // they may differ by rounding
}

void Search::record_floors(const Stage& stage, const Trws& trws, double offset) {
  if (!keeps_floors_ || stage.parent != nullptr) return;
  const double shift = stage.constant - offset, dropped = shift + trws.dropped_bound();
  floors_.resize(root_.first_label(root_.num_variables()), -kForbidden);
  std::vector<double> own;
  for (uint32_t v = 0; v < stage.problem.num_variables(); ++v) {
    const auto original = stage.undo.original_labels(v);
    const auto left = trws.labels(v);
    const uint32_t variable = stage.undo.original_variable(v);
    own.assign(root_.num_labels(variable), kForbidden);  // presolve found the others impossible
    for (const uint32_t label : original) own[label] = dropped;
    for (size_t i = 0; i < left.size(); ++i)
      own[original[left[i]]] =
          std::min(dropped, shift + trws.marginal_bound() + trws.marginals(v)[i]);
    double* floors = floors_.data() + root_.first_label(variable);
    for (size_t i = 0; i < own.size(); ++i) floors[i] = std::max(floors[i], own[i]);
  }
}

void Search::keep_messages(const Stage& root_stage, Trws& trws) {
  if (options_.keep_warm)
    messages_ = std::make_shared<const WarmMessages>(root_, root_stage.undo, trws);
}

Status Search::decode(const Stage& stage, Trws& trws) {
  SHW_ASSIGN_OR_RETURN(std::vector<uint32_t> found, decode_with_propagation(stage.problem, trws));
  if (found.empty()) return {};
  improve_by_coordinates(stage.problem, found);
  trws.offer(found, evaluate(stage.problem, found));
  return {};
}

Result<Verdict> Search::tighten(const Stage& stage, Trws& trws, uint32_t max_sweeps,
                                double stall_share, bool is_root, uint32_t exact_every) {
  const uint64_t few = few_cells(stage.problem);
  bool exact = true;
  double stall_bound = -kForbidden, last_bound = -kForbidden, looked_gap = kForbidden;
  const auto sweep_on = [&](uint32_t sweep) -> Result<std::optional<Verdict>> {
    exact = sweep % exact_every == 0 || trws.cells() < kManyCells;
    SHW_RETURN_IF_ERROR(exact ? trws.sweep() : trws.sweep_rounded());
    ++stats_.sweeps;
    if (trws.cost() == kForbidden && sweep > 1 && is_power_of_two(sweep))
      SHW_RETURN_IF_ERROR(decode(stage, trws));
    const double cost = std::min(cost_, stage.constant + trws.cost());
    const double bound = stage.constant + trws.bound(), gap = cost - bound;
    if (bound >= cutoff(cost)) return {Verdict::kClosed};
    if (watch_.expired()) return {Verdict::kExpired};
    if (exact && trws.cells() < few) return {Verdict::kFewLeft};
    if (is_root) SHW_RETURN_IF_ERROR(watch_.report(cost, bound));
    if (exact && gap < kLookAgain * looked_gap) {
      looked_gap = gap;
      const double limit =
          cutoff(cost) - stage.constant +
          (keeps_floors_ && stage.parent == nullptr ? kFloorReach * std::abs(cost) : 0);
      if (dropping_pays(trws, limit, stage.problem.edges().size(), sweep,
                        gap / (bound - last_bound))) {
        SHW_ASSIGN_OR_RETURN(const bool possible, trws.drop_labels(limit));
        if (!possible) return {Verdict::kClosed};
      }
    }
    last_bound = bound;
    if (sweep % kStallSweeps == 0) {
      if (bound - stall_bound < stall_share * (cost == kForbidden ? std::abs(bound) : gap))
        return {Verdict::kStalled};
      stall_bound = bound;
    }
    return {std::nullopt};
  };
  std::optional<Verdict> verdict;
  for (uint32_t sweep = 1; !verdict && sweep <= max_sweeps; ++sweep) {
    SHW_ASSIGN_OR_RETURN(verdict, sweep_on(sweep));
  }
  if (!exact && verdict != Verdict::kExpired) {  // for the marginals
    SHW_RETURN_IF_ERROR(trws.sweep());
    exact = true;
  }
  if (exact) record_floors(stage, trws, 0);
  // The sweeps' best labelling is mapped to the root problem and evaluated once, at the end.
  if (stage.constant + trws.cost() < cost_) offer(stage, trws.choice());
  return verdict.value_or(Verdict::kStalled);
}

}  // namespace shw::solver
