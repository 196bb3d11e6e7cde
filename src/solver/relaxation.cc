#include "solver/relaxation.h"
#include "solver/parameters.h"

#include <algorithm>
#include <cmath>

namespace shw::solver {
namespace {

using namespace parameters::relaxation;

constexpr double kRelaxationRounding = 1e-13;

}  // namespace

Relaxation::Relaxation(const PlacementProblem& problem, const BudgetRows& rows,
                       std::vector<double> prices, Watch& watch)
    : problem_(problem),
      rows_(rows),
      trws_(problem, watch, Trws::Folds::kYes),
      best_prices_(std::move(prices)),
      label_prices_(problem.first_label(problem.num_variables())),
      overload_(rows.size()),
      direction_(rows.size()),
      frequency_(label_prices_.size()) {
  risen_ = std::ranges::any_of(best_prices_, [](double price) { return price > 0; });
  set_prices(best_prices_);
}

void Relaxation::set_prices(std::span<const double> prices) {
  prices_.assign(prices.begin(), prices.end());
  rows_.price_labels(problem_, prices_, label_prices_);
  trws_.reprice(label_prices_);
  double sum = 0, size = 0;
  for (size_t r = 0; r < rows_.size(); ++r) {
    sum += prices_[r] * rows_.slack(r);
    size += std::abs(prices_[r] * rows_.slack(r));
  }
  offset_ = sum + kRelaxationRounding * size;
}

Result<double> Relaxation::sweep(bool is_rounded) {
  SHW_RETURN_IF_ERROR(is_rounded ? trws_.sweep_rounded() : trws_.sweep());
  last_ = trws_.bound() - offset_;
  if (last_ > bound_) {
    bound_ = last_;
    best_prices_ = prices_;
  }
  return last_;
}

// Updates the running averages with the labelling of the last sweep. Even if that labelling has
// forbidden pairs, it shows which rows are overloaded. Trws::choice() may then belong to much
// earlier prices.
void Relaxation::observe() {
  if (trws_.cost() == kForbidden)
    trws_.last_choice(last_choice_);
  else
    last_choice_.assign(trws_.choice().begin(), trws_.choice().end());
  rows_.overload(last_choice_, overload_);
  const double share = observed_ == 0 ? 1 : kShareOfNew;
  for (size_t r = 0; r < rows_.size(); ++r) direction_[r] += share * (overload_[r] - direction_[r]);
  const float part = std::max(kFrequencyShare, 1.0f / static_cast<float>(observed_ + 1));
  for (float& f : frequency_) f -= part * f;
  for (uint32_t v = 0; v < problem_.num_variables(); ++v)
    frequency_[problem_.first_label(v) + last_choice_[v]] += part;
  ++observed_;
}

Status Relaxation::step(double cost) {
  observe();
  double norm = 0;
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (best_prices_[r] == 0 && direction_[r] < 0) continue;
    norm += direction_[r] * direction_[r];
  }
  const double wanted = std::max(cost - bound_, 1e-12 * std::abs(cost));
  scale_ = std::max(norm, kScaleKept * scale_);
  const double length = norm > 0 ? step_fraction_ * wanted / scale_ : 0;
  std::vector<double> next(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r)
    next[r] = std::max(0.0, best_prices_[r] + length * direction_[r]);
  set_prices(next);
  const double before = bound_;
  SHW_ASSIGN_OR_RETURN(const double now, sweep());
  if (now > before) {
    failures_ = 0;
    risen_ = true;
    step_fraction_ = std::min(kMaxStepFraction, 1.1 * step_fraction_);
  } else if (++failures_ >= (risen_ ? kPatience : 1)) {
    failures_ = 0;
    step_fraction_ = std::max(kMinStepFraction, 0.66 * step_fraction_);
  }
  return {};
}

void Relaxation::add_cut(std::span<const uint32_t> choice, double cost) {
  rows_.overload(choice, overload_);
  bundle_.add(cost, overload_);
}

Result<bool> Relaxation::bundle_step(double cost) {
  ceiling_ = std::min(ceiling_, cost);
  if (ceiling_ - bound_ <= kWorthRising * (cost - bound_)) return false;
  const double level = bound_ + kLevel * (ceiling_ - bound_);
  if (bundle_.least(prices_) >= level) {
    ++idle_bundle_steps_;
    SHW_RETURN_IF_ERROR(sweep_or_step(cost, level));
    return true;
  }
  idle_bundle_steps_ = 0;
  observe();
  if (centre_.empty()) centre_ = best_prices_;
  std::vector<double> next;
  for (double aim = level; aim - bound_ > kMinAim * (level - bound_);
       aim = bound_ + kLevel * (aim - bound_)) {
    SHW_ASSIGN_OR_RETURN(
        const Projection found,
        bundle_.project(centre_, aim, kAimTolerance * (aim - bound_), next, trws_.watch()));
    if (found == Projection::kFound) {
      set_prices(next);
      sweeps_again_ = true;
      SHW_RETURN_IF_ERROR(sweep().status());
      return true;
    }
    if (found == Projection::kNone) ceiling_ = aim;
    centre_ = best_prices_;
    if (ceiling_ - bound_ <= kWorthRising * (cost - bound_)) return false;
  }
  SHW_RETURN_IF_ERROR(step(cost));
  return true;
}

// If all cuts reach the level at the current prices, either the prices are good or the sweeps have
// not converged there. Sweeps again while that helps, then takes a step along the average.
Status Relaxation::sweep_or_step(double cost, double level) {
  if (!sweeps_again_) {
    sweeps_again_ = true;
    return step(cost);
  }
  const double before = last_;
  SHW_RETURN_IF_ERROR(sweep().status());
  sweeps_again_ = last_ - before > kWorthSweeping * (level - before);
  return {};
}

Result<RestrictedProblem> Relaxation::restricted(double limit) const {
  SHW_ASSIGN_OR_RETURN(RestrictedProblem part, trws_.restricted(limit));
  std::vector<double> less;
  for (uint32_t v = 0; v < problem_.num_variables(); ++v) {
    less.clear();
    for (uint32_t i = 0; i < part.problem.num_labels(v); ++i)
      less.push_back(
          -label_prices_[problem_.first_label(v) + part.label[part.problem.first_label(v) + i]]);
    part.problem.add_unary(v, less);
  }
  return part;
}

Status Relaxation::settle() {
  set_prices(std::vector<double>(best_prices_));
  return sweep().status();
}

}  // namespace shw::solver
