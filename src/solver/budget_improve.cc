#include "solver/budget_improve.h"

#include <algorithm>
#include <cmath>

#include "solver/decode.h"
#include "solver/parameters.h"
#include "solver/recombine.h"

namespace shw::solver {
namespace {

using namespace parameters::budget_improve;

}  // namespace

Improver::Improver(Search& search, std::shared_ptr<const Stage> root,
                   std::shared_ptr<const BudgetRows> rows, size_t num_points)
    : search_(search),
      root_(std::move(root)),
      rows_(std::move(rows)),
      num_points_(num_points),
      local_(root_->problem, *rows_),
      marked_(root_->problem.first_label(root_->problem.num_variables()), 0),
      marginals_(marked_.size(), kForbidden),
      core_share_(kFirstCoreShare),
      likely_by_(marked_.size() > kManyLabels * root_->problem.num_variables() ? LikelyBy::kMarginal
                                                                               : LikelyBy::kRank) {
  for (uint32_t v = 0; v < root_->problem.num_variables(); ++v) {
    const uint32_t original = root_->undo.original_variable(v);
    if (original >= variable_here_.size()) variable_here_.resize(original + 1, UINT32_MAX);
    variable_here_[original] = v;
  }
}

std::vector<uint64_t> Improver::labels_here(const Source& part) const {
  std::vector<uint64_t> here(part.root.label.size(), kNone);
  for (uint32_t v = 0; v < part.problem.num_variables(); ++v) {
    const uint32_t original = part.root.variable[v];
    if (original >= variable_here_.size() || variable_here_[original] == UINT32_MAX) continue;
    const uint32_t u = variable_here_[original];
    const auto labels = root_->undo.original_labels(u);
    for (uint64_t i = part.problem.first_label(v); i < part.problem.first_label(v + 1); ++i) {
      const auto at = std::ranges::find(labels, part.root.label[i]);
      if (at != labels.end())
        here[i] = root_->problem.first_label(u) + static_cast<uint64_t>(at - labels.begin());
    }
  }
  return here;
}

Status Improver::observe(const Source& part, Relaxation& relaxation, const Packer& packer) {
  const PlacementProblem& p = part.problem;
  const std::vector<uint64_t> here = labels_here(part);
  SHW_RETURN_IF_ERROR(search_.watch().poll(4 * here.size()));
  const auto mark = [&](std::span<const uint32_t> choice) {
    for (uint32_t v = 0; v < choice.size(); ++v)
      if (const uint64_t at = here[p.first_label(v) + choice[v]]; at != kNone) marked_[at] = 1;
  };
  mark(packer.choice());
  const bool decodes = relaxation.trws().cost() != kForbidden;
  if (decodes) mark(relaxation.trws().choice());
  if (!part.is_root) return {};

  if (!decodes) {  // the sweeps run into forbidden pairs
    SHW_ASSIGN_OR_RETURN(const std::vector<uint32_t> choice,
                         decode_with_propagation(p, relaxation.trws()));
    mark(choice);
  }
  std::vector<double> by_point(num_points_, 0), by_row, focus(root_->problem.num_variables(), 0);
  for (size_t r = 0; r < part.rows.size(); ++r)
    if (part.rows.origin(r) < num_points_)
      by_point[part.rows.origin(r)] = relaxation.best_prices()[r];
  for (size_t r = 0; r < rows_->size(); ++r) by_row.push_back(by_point[rows_->origin(r)]);
  local_.set_prices(by_row);
  prices_ = by_row;
  if (!search_.found()) return find_first(part, relaxation);

  // Changes are most likely to pay where the relaxation prefers other labels than the incumbent.
  std::ranges::fill(marginals_, kForbidden);
  for (uint32_t v = 0; v < p.num_variables(); ++v) {
    const auto left = relaxation.trws().labels(v);
    double regret = search_.cost() - part.bound;
    uint64_t any = kNone;
    for (size_t i = 0; i < left.size(); ++i) {
      const uint64_t at = p.first_label(v) + left[i];
      if (here[at] == kNone) continue;
      any = here[at];
      marginals_[any] =
          relaxation.trws().is_folded(v) ? -kForbidden : relaxation.trws().marginals(v)[i];
      if (part.root.label[at] == search_.choice()[part.root.variable[v]])
        regret = std::clamp(marginals_[any], 0.0, regret);
    }
    if (any != kNone) focus[variable_here_[part.root.variable[v]]] = regret;
  }
  local_.set_focus(focus);
  admit_eliminated(part);
  return {};
}

// Variables that the part's presolve has eliminated have no marginals there. Each takes the label
// of least cost given its neighbours, so all of its labels remain available.
void Improver::admit_eliminated(const Source& part) {
  std::vector<uint8_t> is_left(root_->problem.num_variables(), 0);
  for (const uint32_t original : part.root.variable) is_left[variable_here_[original]] = 1;
  for (uint32_t v = 0; v < is_left.size(); ++v)
    if (!is_left[v])
      std::fill(marginals_.begin() + static_cast<ptrdiff_t>(root_->problem.first_label(v)),
                marginals_.begin() + static_cast<ptrdiff_t>(root_->problem.first_label(v + 1)),
                -kForbidden);
}

// Finds a first labelling if packing runs into forbidden pairs.
Status Improver::find_first(const Source& part, Relaxation& relaxation) {
  if (&part.problem != &root_->problem) return {};
  SHW_ASSIGN_OR_RETURN(const std::vector<uint32_t> choice,
                       decode_with_propagation(part.problem, relaxation.trws(), &part.rows));
  if (!choice.empty()) search_.offer(*root_, choice);
  return {};
}

void Improver::offer() {
  search_.offer(*root_, local_.best());
  started_at_ = search_.cost();
}

Status Improver::run(uint64_t work_elsewhere) {
  if (!search_.found()) return {};
  if (search_.cost() < started_at_) {
    const std::vector<uint32_t> choice = labels_in(*root_, search_.choice());
    if (choice.empty()) return {};
    local_.start(choice);
    started_at_ = search_.cost();
  }
  const double before = search_.cost();
  const auto own =
      std::min(kMostWork, static_cast<uint64_t>(share_ * static_cast<double>(work_elsewhere)));
  SHW_RETURN_IF_ERROR(local_.improve(own, kMaxDearer * std::abs(before), search_.watch()));
  for (uint32_t v = 0; v < local_.current().size(); ++v)
    marked_[root_->problem.first_label(v) + local_.current()[v]] = 1;
  offer();
  waited_ += work_elsewhere;
  if (++runs_ >= kLeastRuns && waited_ >= due_) SHW_RETURN_IF_ERROR(recombine_found());
  share_ = search_.cost() < before ? std::min(1.0, kShareGrows * share_)
                                   : std::max(kLeastShare, kShareFalls * share_);
  return {};
}

// Recombines the labels found recently and the likely ones. The number of likely labels grows after
// a core was closed, and shrinks otherwise. If a core was neither closed nor gave a better
// labelling, the next one orders labels by the other criterion (LikelyBy).
Status Improver::recombine_found() {
  const uint64_t before = search_.watch().cells();
  SHW_RETURN_IF_ERROR(search_.watch().poll(10 * marked_.size()));
  std::vector<uint8_t> allowed = likely_labels(root_->problem, marginals_, core_share_, likely_by_);
  for (size_t i = 0; i < allowed.size(); ++i) allowed[i] |= marked_[i];
  const Watch::WorkLimit limit(search_.watch(), kMostRecombined * waited_);
  SHW_ASSIGN_OR_RETURN(const Recombined made,
                       recombine(root_->problem, *rows_, allowed, local_.best(),
                                 {kRecombinedGap, kRecombinedNodes, prices_}, search_.watch()));
  const auto taken = static_cast<double>(std::ranges::count(allowed, 1));
  core_share_ = made.closed ? kCoreGrows * taken / static_cast<double>(allowed.size())
                            : core_share_ / kCoreGrows;
  core_share_ = std::min(1.0, core_share_);
  if (!made.closed) std::ranges::fill(marked_, 0);
  const double cost = search_.cost();
  local_.start(made.choice);
  offer();
  const bool pays = made.closed || search_.cost() < cost;
  core_patience_ = pays ? 1 : std::min(kMostPatience, 2 * core_patience_);
  if (!pays) likely_by_ = likely_by_ == LikelyBy::kRank ? LikelyBy::kMarginal : LikelyBy::kRank;
  due_ = core_patience_ * (search_.watch().cells() - before);
  waited_ = runs_ = 0;
  return {};
}

}  // namespace shw::solver
