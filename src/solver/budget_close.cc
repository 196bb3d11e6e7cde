// Branch and bound for problems with budgets, over the priced relaxation.
//
// Each part is relaxed (relaxation.h) and packed (pack.h). Labels that cannot be in a labelling
// cheaper than the incumbent, or that no longer fit, are dropped; the rest is presolved and
// processed again. A part whose budgets can no longer be violated is a problem without budgets
// (close.cc). A part that stalls is split in two at one variable (budget_split.cc).
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "solver/budget_close.h"
#include "solver/parameters.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

using namespace parameters::budget_close;
using parameters::budget_improve::kEverySteps;
using parameters::budget_improve::kLeastGap;
using parameters::budget_improve::kLeastParts;
using parameters::budget_improve::kNotesFrom;

Status nothing_fits() {
  return failed_precondition("no labelling of finite cost is within the budgets");
}

}  // namespace

Status BudgetCloser::run() {
  const BudgetRows all(root_);
  if (all.broken()) return nothing_fits();
  search_.require_cost_below(search_.options().cost_below);
  points_.assign(all.points().begin(), all.points().end());
  classes_ = std::make_shared<const std::vector<uint32_t>>(equal_variables(root_));
  std::vector<uint8_t> keep = all.fitting(root_);
  begin_warm(keep);
  Result<Part> part = root_part(all, keep);
  if (part.status().code() == Code::kFailedPrecondition && search_.found())
    return search_.raise_bound(open_.bound());  // the warm start's answer is optimal
  SHW_RETURN_IF_ERROR(part.status());
  if (search_.options().likely_cells > 0 && part->rows->size() > 0 &&
      edge_cells(part->stage->problem) > search_.options().likely_cells)
    return look_among_likely(*part);
  std::optional<Part> rest = std::move(*part);
  if (!is_rough_ && rest->rows->size() > 0 &&
      edge_cells(rest->stage->problem) >= search_.options().huge_cells) {
    SHW_ASSIGN_OR_RETURN(rest, begin_among_likely(std::move(*rest)));
    begun_among_likely_ = true;
  }
  if (rest) SHW_RETURN_IF_ERROR(visit(std::move(*rest), true));
  while (!open_.empty() && !stopped()) {
    if (search_.stats().branch_nodes >= kSequentialParts) {
      SHW_RETURN_IF_ERROR(branch_in_rounds());
      continue;
    }
    const OpenPart next = take_next();
    if (open_.prune(next.bound)) continue;
    ++search_.stats().branch_nodes;
    SHW_RETURN_IF_ERROR(enter(next));
    SHW_RETURN_IF_ERROR(improve(search_.bound(), 0));
    SHW_RETURN_IF_ERROR(search_.raise_bound(open_.bound()));
  }
  SHW_RETURN_IF_ERROR(search_.raise_bound(open_.bound()));
  if (search_.bound() == kForbidden) return nothing_fits();
  return {};
}

// Depth first after a split; best bound first after a part was closed. A rough search mostly
// backtracks by one step, since good labellings often differ in a few labels near the end of a
// dive.
OpenPart BudgetCloser::take_next() {
  const bool roomy = 2 * search_.stage_bytes() < search_.options().branch_bytes;
  if (std::exchange(descending_, false) || !roomy) return open_.take_last();
  const bool goes_back = is_rough_ && ++dives_ % kTopOneIn != 0;
  return goes_back ? open_.take_last() : open_.take_lowest();
}

// Drops labels that the warm start proves too expensive.
void BudgetCloser::begin_warm(std::span<uint8_t> keep) {
  const WarmStart* warm = search_.options().warm;
  if (search_.options().keep_warm) search_.keep_floors();
  if (warm == nullptr || !fits(*warm, root_)) return;
  const std::vector<double> floors = search_.begin_warm(*warm);
  if (floors.empty() || !search_.found()) return;
  for (size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] != 0 && floors[i] < search_.cutoff();
  open_.abandon(search_.cutoff());
}

// The warm start's prices, by row of the root: each price goes to the row that covers its point.
std::vector<double> BudgetCloser::first_prices() const {
  std::vector<double> prices(points_.size(), 0);
  const WarmStart* warm = search_.options().warm;
  if (warm == nullptr) return prices;
  for (const BudgetPrice& p : warm->prices) {
    const auto after = std::ranges::upper_bound(
        points_, std::pair(p.budget, p.point), {},
        [](const BudgetRows::Point& at) { return std::pair(at.budget, at.point); });
    if (after == points_.begin() || (after - 1)->budget != p.budget || !(p.price > 0)) continue;
    prices[static_cast<size_t>(after - 1 - points_.begin())] += p.price;
  }
  return prices;
}

void BudgetCloser::keep_prices(const Part& part, const Relaxation& relaxation) {
  search_.prices().clear();
  for (size_t r = 0; r < part.rows->size(); ++r) {
    const double price = relaxation.best_prices()[r];
    if (price == 0) continue;
    const auto [budget, point] = points_[part.rows->origin(r)];
    search_.prices().push_back({budget, point, price});
  }
}

Result<Part> BudgetCloser::root_part(const BudgetRows& all, std::span<const uint8_t> keep) {
  const std::vector<uint8_t> budgeted = all.budgeted();
  Part part;
  SHW_ASSIGN_OR_RETURN(part.stage, search_.root_stage(keep, budgeted));
  part.rows = std::make_shared<BudgetRows>(
      all.restricted(root_, {}, part.stage->problem, part.stage->undo));
  part.prices = first_prices();
  part.use_bundle = !is_rough_;
  part.root =
      std::make_shared<const RootLabels>(root_labels(part.stage->problem, part.stage->undo));
  const PlacementProblem& small = part.stage->problem;
  search_.stats().variables_after_presolve = small.num_variables();
  search_.stats().labels_after_presolve = small.first_label(small.num_variables());
  if (!is_rough_ && search_.options().max_branch_nodes >= kLeastParts) {
    root_stage_ = part.stage;
    root_rows_ = part.rows;
  }
  return part;
}

Status BudgetCloser::enter(const OpenPart& open) {
  SHW_ASSIGN_OR_RETURN(std::optional<Part> part, restrict(open.parent, open.source, open.keep));
  return part ? visit(std::move(*part), false) : Status();
}

// nullopt: no labelling is left.
Result<std::optional<Part>> BudgetCloser::restrict(const Part& parent,
                                                   std::shared_ptr<const RestrictedProblem> source,
                                                   std::span<const uint8_t> keep) {
  const std::vector<uint8_t> budgeted = parent.rows->budgeted();
  auto stage = search_.restrict(parent.stage, source, keep, budgeted);
  if (!stage.ok()) {
    if (stage.status().code() == Code::kFailedPrecondition) return {std::nullopt};
    return stage.status();
  }
  Part part = parent;
  part.stage = *stage;
  const PlacementProblem& from = parent.stage->problem;
  const Postsolve& undo = part.stage->undo;
  part.root = std::make_shared<const RootLabels>(
      root_labels(*parent.root, from, *source, part.stage->problem, undo));
  part.counts =
      counts_within(parent.counts, *classes_, *parent.root, from, *source, *part.root, undo);
  part.rows = std::make_shared<BudgetRows>(parent.rows->restricted(
      source->problem, source->label, part.stage->problem, part.stage->undo));
  if (part.rows->broken()) return {std::nullopt};
  return {std::move(part)};
}

Status BudgetCloser::settle_without_budgets(const Part& part) {
  const PlacementProblem& p = part.stage->problem;
  const Watch::Part quiet(search_.watch());
  Search inner(p, search_.options(), search_.watch());
  if (search_.cost() != kForbidden) inner.require_cost_below(search_.cost() - part.stage->constant);
  auto stage = inner.root_stage({});
  if (!stage.ok())
    return stage.status().code() == Code::kFailedPrecondition ? Status() : stage.status();
  SHW_RETURN_IF_ERROR(close_gap(inner, *stage));
  open_.abandon(std::max(part.bound, part.stage->constant + inner.bound()));
  if (inner.found()) search_.offer(*part.stage, inner.take_choice());
  return {};
}

Status BudgetCloser::pack(const Part& part, Packer& packer, Relaxation& relaxation) {
  for (const bool forward : {true, false}) {
    if (search_.found() && search_.watch().expired()) return {};
    if (!packer.pack(relaxation.trws(), forward)) continue;
    SHW_RETURN_IF_ERROR(packer.improve(search_.watch()));
    if (packer.keep()) search_.offer(*part.stage, packer.choice());
  }
  return combine(part, packer, relaxation);
}

// The target of a step. A poor incumbent is no guide to how far the bound can rise.
double BudgetCloser::goal(const Part& part, const Relaxation& relaxation) const {
  return std::min(search_.cost() - part.stage->constant,
                  relaxation.bound() + kMaxRise * (std::abs(relaxation.bound()) + 1));
}

// Combines this part's best packing with the relaxation's labelling.
Status BudgetCloser::combine(const Part& part, Packer& packer, Relaxation& relaxation) {
  const auto proposed = relaxation.trws().choice();
  if (!packer.back()) return {};
  if (!proposed.empty())
    SHW_RETURN_IF_ERROR(packer.combine(proposed, relaxation.label_prices(), search_.watch()));
  if (packer.keep()) search_.offer(*part.stage, packer.choice());
  return {};
}

Status BudgetCloser::observe(const Part& part, Relaxation& relaxation, const Packer& packer,
                             bool is_root) {
  if (root_stage_ == nullptr ||
      search_.watch().cells() < std::min(kNotesFrom, search_.options().improve_from) ||
      search_.cost() - part.bound < kLeastGap * std::abs(part.bound))
    return {};
  if (improver_ == nullptr)
    improver_ = std::make_unique<Improver>(search_, root_stage_, root_rows_, points_.size());
  return improver_->observe({part.stage->problem, *part.rows, *part.root, part.bound, is_root},
                            relaxation, packer);
}

Status BudgetCloser::improve(double bound, uint64_t work_on_lanes) {
  const uint64_t now = search_.watch().cells();
  if (improver_ == nullptr || now < search_.options().improve_from ||
      search_.cost() - bound < kLeastGap * std::abs(bound))
    return {};
  SHW_RETURN_IF_ERROR(improver_->run(now - improved_at_ + work_on_lanes));
  improved_at_ = search_.watch().cells();
  return {};
}

// False: moving prices does not raise the bound any more.
Result<bool> BudgetCloser::move_prices(Part& part, Packer& packer, Relaxation& relaxation,
                                       bool by_bundle) {
  const double gap = search_.cost() - part.bound, constant = part.stage->constant;
  part.use_bundle =
      part.use_bundle &&
      relaxation.idle_bundle_steps() <= (part.is_counted ? kMaxIdleCounted : kMaxIdleBundleSteps);
  if (by_bundle && part.use_bundle && gap < kNarrowGap * std::abs(part.bound)) {
    std::vector<uint32_t> proposed(relaxation.trws().choice().begin(),
                                   relaxation.trws().choice().end());
    if (!proposed.empty()) {
      double cost = packer.cost(proposed);
      if (packer.back()) {
        cost = packer.blend(proposed, relaxation.label_prices());
        relaxation.add_cut(packer.choice(), packer.best_cost());
      }
      relaxation.add_cut(proposed, cost);
    }
    return relaxation.bundle_step(search_.cost() - constant);
  }
  SHW_RETURN_IF_ERROR(relaxation.step(goal(part, relaxation)));
  return true;
}

Result<Verdict> BudgetCloser::tighten(Part& part, Relaxation& relaxation, bool is_root) {
  Packer packer(part.stage->problem, *part.rows);
  const double constant = part.stage->constant;
  double stall_bound = -kForbidden;
  const bool large = edge_cells(part.stage->problem) > kLargeRootCells;
  const bool prices_anew = is_root || part.is_counted;
  const uint32_t steps = is_root           ? large ? kLargeRootSteps : kRootSteps
                         : part.is_counted ? kCountedSteps
                                           : kNodeSteps;
  // The bundle can get stuck at prices that were found for another set of labels, such as those of
  // a warm start.
  const bool is_led = part.is_counted || begun_among_likely_;
  const uint32_t bundle_from = !prices_anew                        ? UINT32_MAX
                               : is_led && relaxation.has_prices() ? 2
                                                                   : kAverageSteps;
  bool rises = true;
  for (uint32_t step = 0; rises && step <= steps; ++step) {
    if (step == 0) {
      // The remaining problem of a huge root keeps the messages of its last sweep, so one sweep
      // suffices.
      const uint32_t sweeps = is_root && !begun_among_likely_ ? kWarmSweeps : 1;
      for (uint32_t s = 0; s < sweeps; ++s) {
        SHW_RETURN_IF_ERROR(relaxation.sweep().status());
        if (search_.watch().expired()) break;
      }
    } else {
      SHW_ASSIGN_OR_RETURN(rises, move_prices(part, packer, relaxation, step >= bundle_from));
    }
    ++search_.stats().sweeps;
    SHW_RETURN_IF_ERROR(step % 10 == 0 ? pack(part, packer, relaxation)
                                       : combine(part, packer, relaxation));
    if (is_root && step % kEverySteps == 0) {
      SHW_RETURN_IF_ERROR(observe(part, relaxation, packer, true));
      SHW_RETURN_IF_ERROR(improve(part.bound, 0));
    }
    part.bound = std::max(part.bound, constant + relaxation.bound());
    if (part.bound >= search_.cutoff()) return Verdict::kClosed;
    if (search_.watch().expired()) return Verdict::kExpired;
    if (is_root) SHW_RETURN_IF_ERROR(search_.watch().report(search_.cost(), part.bound));
    if (part.use_bundle && large && step > bundle_from && step % 4 == 0 &&
        relaxation.trws().cells_below(search_.cutoff() - constant + relaxation.offset()) <
            kWorthDropping * static_cast<double>(relaxation.trws().cells()))
      break;
    if (step % 30 == 29) {
      if (part.bound - stall_bound <
          (large ? kLargeStallShare : kStallShare) * (goal(part, relaxation) - relaxation.bound()))
        break;
      stall_bound = part.bound;
    }
  }
  SHW_RETURN_IF_ERROR(relaxation.settle());
  SHW_RETURN_IF_ERROR(pack(part, packer, relaxation));
  SHW_RETURN_IF_ERROR(observe(part, relaxation, packer, is_root));
  return Verdict::kStalled;
}

// Adds the two halves of a part to open_.
void BudgetCloser::split(const Part& part, const Relaxation& relaxation,
                         std::shared_ptr<const RestrictedProblem> source) {
  const PlacementProblem& p = part.stage->problem;
  // New counts need the bundle, which does not work with a wide gap. Then finding good labellings
  // has priority, so the search descends.
  const double gap = search_.cost() - open_.bound();
  const bool narrow = gap < kNarrowGap * std::abs(part.bound);
  descending_ = !narrow || part.bound - open_.bound() <= kUrgentShare * gap;
  std::optional<CountSplit> by_count;
  if (narrow && !is_rough_)
    by_count = split_count(p, *part.root, *classes_, relaxation, part.counts, search_.choice());
  if (!by_count) {
    Part parent = part;
    parent.is_counted = false;
    for (std::vector<uint8_t>& half : split_labels(part, relaxation, *source))
      open_.add({parent, source, std::move(half), part.bound});
    return;
  }
  const std::vector<uint8_t> all(source->label.size(), 1);
  for (const bool lower_half : {false, true}) {
    Part half = part;
    half.is_counted = true;
    half.use_bundle = true;
    half.rows = std::make_shared<BudgetRows>(with_count(*part.rows, p, *part.root, *classes_,
                                                        *by_count, lower_half,
                                                        static_cast<uint32_t>(half.prices.size())));
    half.prices.push_back(0);
    Count count = by_count->count;
    (lower_half ? count.most : count.least) = by_count->at_most + (lower_half ? 0 : 1);
    std::erase_if(half.counts,
                  [&](const Count& c) { return c.class_number == count.class_number; });
    half.counts.push_back(std::move(count));
    open_.add({std::move(half), source, all, part.bound});
  }
}

Result<BudgetCloser::Rest> BudgetCloser::without_dear_labels(Part& part,
                                                             const Relaxation& relaxation) {
  const PlacementProblem& p = part.stage->problem;
  for (size_t r = 0; r < part.rows->size(); ++r)
    part.prices[part.rows->origin(r)] = relaxation.best_prices()[r];
  const double limit = search_.cutoff() - part.stage->constant + relaxation.offset();
  SHW_ASSIGN_OR_RETURN(RestrictedProblem kept, relaxation.restricted(limit));
  const auto source = std::make_shared<const RestrictedProblem>(std::move(kept));
  open_.abandon(search_.cutoff());  // for labels that the part has dropped
  const std::vector<uint8_t> fitting = part.rows->fitting(p);
  std::vector<uint8_t> keep;
  for (uint32_t v = 0; v < p.num_variables(); ++v)
    for (uint32_t i = 0; i < source->problem.num_labels(v); ++i)
      keep.push_back(fitting[p.first_label(v) + source->label[source->problem.first_label(v) + i]]);
  SHW_ASSIGN_OR_RETURN(std::optional<Part> rest, restrict(part, source, keep));
  return Rest{source, std::move(rest)};
}

std::vector<double> BudgetCloser::prices_of_rows(const Part& part) const {
  std::vector<double> prices;
  for (size_t r = 0; r < part.rows->size(); ++r)
    prices.push_back(part.prices[part.rows->origin(r)]);
  return prices;
}

// Closes the part, or adds its two halves to open_.
Status BudgetCloser::visit(Part part, bool is_root) {
  for (;;) {
    const PlacementProblem& p = part.stage->problem;
    if (part.rows->broken()) return {};
    if (part.rows->size() == 0) return settle_without_budgets(part);
    Relaxation relaxation(p, *part.rows, prices_of_rows(part), search_.watch());
    relaxation.set_step_fraction(part.step_fraction);
    const double bound_before = part.bound;
    SHW_ASSIGN_OR_RETURN(const Verdict verdict, tighten(part, relaxation, is_root));
    search_.record_floors(*part.stage, relaxation.trws(), relaxation.offset());
    is_root = is_root && edge_cells(p) > kLargeRootCells;
    if (is_root) part.step_fraction = relaxation.step_fraction();
    if (part.stage->parent == nullptr || is_root) keep_prices(part, relaxation);
    if (open_.prune(part.bound)) return {};
    if (verdict == Verdict::kExpired) {
      open_.abandon(part.bound);
      return {};
    }
    SHW_ASSIGN_OR_RETURN(Rest left, without_dear_labels(part, relaxation));
    std::optional<Part>& rest = left.part;
    if (!rest) return {};
    const PlacementProblem& q = rest->stage->problem;
    SHW_RETURN_IF_ERROR(look_at_fronts(*rest));
    part.bound = rest->bound;
    part.fronts_below = rest->fronts_below;
    if (open_.prune(part.bound)) return {};
    const bool goes_on =
        is_root && part.bound - bound_before > kLargeRiseShare * (search_.cost() - part.bound);
    if (!goes_on && rest->rows->size() > 0 &&
        10 * q.first_label(q.num_variables()) > 9 * p.first_label(p.num_variables())) {
      split(part, relaxation, left.source);
      return {};
    }
    part = std::move(*rest);
  }
}

Status close_gap_within_budgets(Search& search, const PlacementProblem& root, bool is_rough) {
  return BudgetCloser(search, root, is_rough).run();
}

}  // namespace shw::solver
