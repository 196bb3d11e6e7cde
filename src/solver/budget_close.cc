// From the problem with budgets to a proof: branch and bound over the priced relaxation.
//
// A part of the problem is relaxed (relaxation.h) and packed (pack.h). Labels that cost more than
// the incumbent even at the best prices go, so do those that fit no longer; what is left is
// presolved, and looked at again. A part in which no budget can be broken any more is a problem
// without budgets, which close.cc settles. What resists is split in two at one variable: see
// budget_split.cc.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "solver/budget_close.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

constexpr uint32_t kWarmSweeps = 8;   // at prices of zero, before the first step
constexpr uint32_t kRootSteps = 150;  // of prices
// After so many, a bundle of labellings moves them, if the gap is narrow: that is exact where
// averages only circle, but knows nothing of how far sweeps are from their end.
constexpr uint32_t kAverageSteps = 16;
constexpr double kNarrowGap = 0.02;
constexpr uint32_t kMostSilent = 6;     // times in a row that it may have nothing to say
constexpr double kWorthDropping = 0.5;  // labels, of a large part, when so much is left without
// Branching does not come to an end on so many pairs of labels; what can be done there is a good
// bound, and a good labelling by the way.
constexpr uint64_t kLargeCells = 2'000'000;
constexpr uint32_t kLargeRootSteps = 400;  // and again, as long as that helps
constexpr uint32_t kNodeSteps = 20;
constexpr double kMostRise = 0.2;  // of the bound, that a step aims for
constexpr double kStallShare = 0.01,
                 kLargeStallShare = 0.0005;  // of the way to the goal, that 30 steps must have made

constexpr double kLargeRiseShare = 0.01;  // of the gap, that such a round must have closed
// What takes no more parts than these is solved part by part; beyond, several are open at a time.
constexpr uint32_t kPartsAlone = 200;

uint64_t edge_cells(const PlacementProblem& problem) {
  uint64_t cells = 0;
  for (const auto& e : problem.edges())
    cells += uint64_t{problem.num_labels(e.a)} * problem.num_labels(e.b);
  return cells;
}

Status nothing_fits() {
  return failed_precondition("no labelling of finite cost is within the budgets");
}

}  // namespace

Status BudgetCloser::run() {
  const BudgetRows all(root_);
  if (all.broken()) return nothing_fits();
  points_.assign(all.points().begin(), all.points().end());
  std::vector<uint8_t> keep = all.fitting(root_);
  begin_warm(keep);
  Result<Part> part = root_part(all, keep);
  if (part.status().code() == Code::kFailedPrecondition && search_.found())
    return search_.raise_bound(open_.bound());  // nothing but the answer that it began with
  SHW_RETURN_IF_ERROR(part.status());
  SHW_RETURN_IF_ERROR(visit(std::move(*part), true));
  while (!open_.empty() && !stopped()) {
    if (search_.stats().branch_nodes >= kPartsAlone) {
      SHW_RETURN_IF_ERROR(branch_in_rounds());
      continue;
    }
    const OpenPart next = take_next();
    if (open_.give_up(next.bound)) continue;
    ++search_.stats().branch_nodes;
    SHW_RETURN_IF_ERROR(enter(next));
    SHW_RETURN_IF_ERROR(search_.raise_bound(open_.bound()));
  }
  SHW_RETURN_IF_ERROR(search_.raise_bound(open_.bound()));
  if (search_.bound() == kForbidden) return nothing_fits();
  return {};
}

// Straight down after a split; after a part that was settled, where the bound is lowest.
OpenPart BudgetCloser::take_next() {
  const bool roomy = 2 * search_.stage_bytes() < search_.options().branch_bytes;
  return std::exchange(descending_, false) || !roomy ? open_.take_last() : open_.take_lowest();
}

// Drops what an earlier solve knows to be too dear.
void BudgetCloser::begin_warm(std::span<uint8_t> keep) {
  const WarmStart* warm = search_.options().warm;
  if (search_.options().keep_warm) search_.keep_floors();
  if (warm == nullptr || !fits(*warm, root_)) return;
  const std::vector<double> floors = search_.begin_warm(*warm);
  if (floors.empty() || !search_.found()) return;
  for (size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] != 0 && floors[i] < search_.cutoff();
  open_.leave(search_.cutoff());
}

// By row of the root; those of an earlier solve, each at the row that has its point.
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
  const PlacementProblem& small = part.stage->problem;
  search_.stats().variables_after_presolve = small.num_variables();
  search_.stats().labels_after_presolve = small.first_label(small.num_variables());
  return part;
}

Status BudgetCloser::enter(const OpenPart& open) {
  SHW_ASSIGN_OR_RETURN(std::optional<Part> part, restrict(open.parent, open.source, open.keep));
  return part ? visit(std::move(*part), false) : Status();
}

// Nothing: no labelling is left.
Result<std::optional<Part>> BudgetCloser::restrict(const Part& parent,
                                                   std::shared_ptr<const RestrictedProblem> source,
                                                   std::span<const uint8_t> keep) {
  const std::vector<uint8_t> budgeted = parent.rows->budgeted();
  auto stage = search_.restrict(parent.stage, source, keep, budgeted);
  if (!stage.ok()) {
    if (stage.status().code() == Code::kFailedPrecondition) return {std::nullopt};
    return stage.status();
  }
  Part part{*stage, nullptr, parent.prices, parent.bound, parent.reach, parent.bundles};
  part.rows = std::make_shared<BudgetRows>(parent.rows->restricted(
      source->problem, source->label, part.stage->problem, part.stage->undo));
  if (part.rows->broken()) return {std::nullopt};
  return {std::move(part)};
}

Status BudgetCloser::settle_without_budgets(const Part& part) {
  const PlacementProblem& p = part.stage->problem;
  const Watch::Part quiet(search_.watch());
  Search inner(p, search_.options(), search_.watch());
  if (search_.cost() != kForbidden) inner.look_below(search_.cost() - part.stage->constant);
  auto stage = inner.root_stage({});
  if (!stage.ok())
    return stage.status().code() == Code::kFailedPrecondition ? Status() : stage.status();
  SHW_RETURN_IF_ERROR(close_gap(inner, *stage));
  open_.leave(std::max(part.bound, part.stage->constant + inner.bound()));
  if (inner.found()) search_.offer(*part.stage, inner.take_choice());
  return {};
}

Status BudgetCloser::pack(const Part& part, Packer& packer, Relaxation& relaxation) {
  for (const bool forth : {true, false}) {
    if (search_.found() && search_.watch().expired()) return {};
    if (!packer.pack(relaxation.trws(), forth)) continue;
    SHW_RETURN_IF_ERROR(packer.improve(search_.watch()));
    if (packer.keep()) search_.offer(*part.stage, packer.choice());
  }
  return combine(part, packer, relaxation);
}

// What steps aim at: a poor incumbent says little of how far the bound may rise.
double BudgetCloser::goal(const Part& part, const Relaxation& relaxation) const {
  return std::min(search_.cost() - part.stage->constant,
                  relaxation.bound() + kMostRise * (std::abs(relaxation.bound()) + 1));
}

// The best packing of this part with what the relaxation would like.
Status BudgetCloser::combine(const Part& part, Packer& packer, Relaxation& relaxation) {
  const auto liked = relaxation.trws().choice();
  if (!packer.back()) return {};
  if (!liked.empty())
    SHW_RETURN_IF_ERROR(packer.combine(liked, relaxation.label_prices(), search_.watch()));
  if (packer.keep()) search_.offer(*part.stage, packer.choice());
  return {};
}

// False: prices will not raise the bound any more.
Result<bool> BudgetCloser::move_prices(Part& part, Packer& packer, Relaxation& relaxation,
                                       bool by_bundle) {
  const double gap = search_.cost() - part.bound, constant = part.stage->constant;
  part.bundles = part.bundles && relaxation.silent() <= kMostSilent;
  if (by_bundle && part.bundles && gap < kNarrowGap * std::abs(part.bound)) {
    std::vector<uint32_t> liked(relaxation.trws().choice().begin(),
                                relaxation.trws().choice().end());
    if (!liked.empty() && packer.back()) {
      const double cost = packer.blend(liked, relaxation.label_prices());
      relaxation.show(packer.choice(), packer.best_cost());
      relaxation.show(liked, cost);
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
  const bool large = edge_cells(part.stage->problem) > kLargeCells;
  const uint32_t steps = !is_root ? kNodeSteps : large ? kLargeRootSteps : kRootSteps;
  const uint32_t bundle_from = !is_root ? UINT32_MAX : relaxation.has_prices() ? 2 : kAverageSteps;
  bool rises = true;
  for (uint32_t step = 0; rises && step <= steps; ++step) {
    if (step == 0) {
      for (uint32_t s = 0; s < (is_root ? kWarmSweeps : 1); ++s) {
        SHW_RETURN_IF_ERROR(relaxation.sweep().status());
        if (search_.watch().expired()) break;
      }
    } else {
      SHW_ASSIGN_OR_RETURN(rises, move_prices(part, packer, relaxation, step >= bundle_from));
    }
    ++search_.stats().sweeps;
    SHW_RETURN_IF_ERROR(step % 10 == 0 ? pack(part, packer, relaxation)
                                       : combine(part, packer, relaxation));
    part.bound = std::max(part.bound, constant + relaxation.bound());
    if (part.bound >= search_.cutoff()) return Verdict::kClosed;
    if (search_.watch().expired()) return Verdict::kExpired;
    if (is_root) SHW_RETURN_IF_ERROR(search_.watch().report(search_.cost(), part.bound));
    if (part.bundles && large && step > bundle_from && step % 4 == 0 &&
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
  return Verdict::kStalled;
}

// Settles the part, or leaves its two halves in open_.
Status BudgetCloser::visit(Part part, bool is_root) {
  for (;;) {
    const PlacementProblem& p = part.stage->problem;
    if (part.rows->broken()) return {};
    if (part.rows->size() == 0) return settle_without_budgets(part);
    std::vector<double> prices;
    for (size_t r = 0; r < part.rows->size(); ++r)
      prices.push_back(part.prices[part.rows->origin(r)]);
    Relaxation relaxation(p, *part.rows, std::move(prices), search_.watch());
    relaxation.set_reach(part.reach);
    const double bound_before = part.bound;
    SHW_ASSIGN_OR_RETURN(const Verdict verdict, tighten(part, relaxation, is_root));
    search_.note_floors(*part.stage, relaxation.trws(), relaxation.offset());
    is_root = is_root && edge_cells(p) > kLargeCells;
    if (is_root) part.reach = relaxation.reach();
    if (part.stage->parent == nullptr || is_root) keep_prices(part, relaxation);
    if (open_.give_up(part.bound)) return {};
    if (verdict == Verdict::kExpired) {
      open_.leave(part.bound);
      return {};
    }
    for (size_t r = 0; r < part.rows->size(); ++r)
      part.prices[part.rows->origin(r)] = relaxation.best_prices()[r];

    const double limit = search_.cutoff() - part.stage->constant + relaxation.offset();
    SHW_ASSIGN_OR_RETURN(RestrictedProblem kept, relaxation.restricted(limit));
    const auto source = std::make_shared<const RestrictedProblem>(std::move(kept));
    open_.leave(search_.cutoff());  // the labels that it lacks
    const std::vector<uint8_t> fitting = part.rows->fitting(p);
    std::vector<uint8_t> keep;
    for (uint32_t v = 0; v < p.num_variables(); ++v)
      for (uint32_t i = 0; i < source->problem.num_labels(v); ++i)
        keep.push_back(
            fitting[p.first_label(v) + source->label[source->problem.first_label(v) + i]]);
    SHW_ASSIGN_OR_RETURN(std::optional<Part> rest, restrict(part, source, keep));
    if (!rest) return {};
    const PlacementProblem& q = rest->stage->problem;
    const bool goes_on =
        is_root && part.bound - bound_before > kLargeRiseShare * (search_.cost() - part.bound);
    if (!goes_on && rest->rows->size() > 0 &&
        10 * q.first_label(q.num_variables()) > 9 * p.first_label(p.num_variables())) {
      for (std::vector<uint8_t>& half : split_labels(part, relaxation, *source))
        open_.add({part, source, std::move(half), part.bound});
      descending_ = true;
      return {};
    }
    part = std::move(*rest);
  }
}

Status close_gap_within_budgets(Search& search, const PlacementProblem& root) {
  return BudgetCloser(search, root).run();
}

}  // namespace shw::solver
