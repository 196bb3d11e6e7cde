#include "solver/warm.h"

#include <algorithm>
#include <cmath>

#include "solver/kernels.h"
#include "solver/parameters.h"
#include "solver/search.h"

namespace shw::solver {
namespace {

using namespace parameters::warm;

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return kForbidden;
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(at));
  return values[at];
}

bool same_table(const PlacementProblem& a, uint32_t i, const PlacementProblem& b, uint32_t j) {
  const auto &x = a.matrices()[i], &y = b.matrices()[j];
  return x.rows == y.rows && x.cols == y.cols &&
         (x.costs == y.costs ||
          same_bytes(x.costs, y.costs, size_t{x.rows} * x.cols * sizeof(double)));
}

// Whether the edges of `before` are the first of `now`.
bool keeps_edges(const PlacementProblem& before, const PlacementProblem& now) {
  if (now.edges().size() < before.edges().size()) return false;
  constexpr uint32_t kNotAlike = UINT32_MAX;
  std::vector<uint32_t> equal(before.matrices().size(), kNotAlike);  // to this one of `now`
  for (size_t i = 0; i < before.edges().size(); ++i) {
    const auto &x = before.edges()[i], &y = now.edges()[i];
    if (x.a != y.a || x.b != y.b || x.transposed != y.transposed) return false;
    if (equal[x.matrix] == y.matrix) continue;
    if (!same_table(before, x.matrix, now, y.matrix)) return false;
    equal[x.matrix] = y.matrix;
  }
  return true;
}

// Whether everything within the budgets of `now` is also within those of `before`, by a simple
// sufficient test.
bool keeps_budgets(const PlacementProblem& before, const PlacementProblem& now) {
  const auto was = before.budget_limits(), is = now.budget_limits();
  if (is.size() < was.size() || now.usages().size() < before.usages().size()) return false;
  for (size_t b = 0; b < was.size(); ++b)
    if (is[b] > was[b]) return false;
  for (size_t i = 0; i < now.usages().size(); ++i) {
    const auto& y = now.usages()[i];
    if (i >= before.usages().size()) {
      if (y.budget < was.size()) return false;
      continue;
    }
    const auto& x = before.usages()[i];
    if (x.budget != y.budget || x.variable != y.variable || x.first != y.first || x.end != y.end ||
        !std::ranges::equal(before.usage_of(x), now.usage_of(y)))
      return false;
  }
  return true;
}

// A lower bound on the cost of any labelling.
double least_floor(const PlacementProblem& problem, std::span<const double> floors) {
  double least = -kForbidden;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    double own = kForbidden;
    for (uint32_t i = 0; i < problem.num_labels(v); ++i)
      if (problem.unary(v)[i] != kForbidden)
        own = std::min(own, floors[problem.first_label(v) + i]);
    least = std::max(least, own);
  }
  return least;
}

}  // namespace

bool fits(const WarmStart& warm, const PlacementProblem& problem) {
  const PlacementProblem& p = warm.problem;
  if (p.num_variables() != problem.num_variables() || warm.choice.size() != p.num_variables())
    return false;
  for (uint32_t v = 0; v < p.num_variables(); ++v)
    if (p.num_labels(v) != problem.num_labels(v) || warm.choice[v] >= p.num_labels(v)) return false;
  return warm.floors.empty() || warm.floors.size() == p.first_label(p.num_variables());
}

std::vector<double> floors_for(const WarmStart& warm, const PlacementProblem& problem) {
  const PlacementProblem& p = warm.problem;
  if (warm.floors.empty() || !keeps_edges(p, problem) || !keeps_budgets(p, problem)) return {};
  std::vector<double> floors = warm.floors;
  double cheaper = 0;
  for (uint32_t v = 0; v < p.num_variables(); ++v) {
    const auto was = p.unary(v), is = problem.unary(v);
    double most = 0;
    for (uint32_t i = 0; i < was.size(); ++i) {
      if (is[i] == was[i]) continue;
      if (was[i] == kForbidden) return {};
      most = std::max(most, was[i] - is[i]);
      double& floor = floors[p.first_label(v) + i];
      if (is[i] == kForbidden)
        floor = kForbidden;
      else if (is[i] > was[i])
        floor += is[i] - was[i];
    }
    cheaper += most;
  }
  if (cheaper > 0)
    for (double& floor : floors) floor -= cheaper;
  return floors;
}

std::vector<double> Search::begin_warm(const WarmStart& warm) {
  take(warm.choice);
  std::vector<double> floors = floors_for(warm, root_);
  if (!floors.empty() && options_.keep_warm) floors_ = floors, keeps_floors_ = false;
  return floors;
}

Result<bool> Search::close_warm(const WarmStart& warm) {
  if (!fits(warm, root_)) return false;
  const std::vector<double> floors = begin_warm(warm);
  if (floors.empty()) return false;
  const double least = least_floor(root_, floors);
  if (std::abs(least) == kForbidden) return false;
  SHW_RETURN_IF_ERROR(raise_bound(least));
  if (proven()) return true;
  std::vector<double> known;
  for (const double floor : floors)
    if (std::abs(floor) != kForbidden) known.push_back(floor);
  double limit = std::min(cost_, quantile(known, kFirstShare));
  std::vector<uint8_t> keep(floors.size());
  for (;;) {
    for (size_t i = 0; i < floors.size(); ++i) keep[i] = floors[i] < limit;
    Search inner(root_, options_, watch_);
    inner.require_cost_below(cost_);
    const auto stage = inner.root_stage(keep);
    if (stage.ok()) {
      SHW_RETURN_IF_ERROR(close_gap(inner, *stage));
    } else if (stage.status().code() != Code::kFailedPrecondition) {
      return stage.status();
    }
    stats_.sweeps += inner.stats().sweeps;
    stats_.branch_nodes += inner.stats().branch_nodes;
    const double bound = std::min(stage.ok() ? inner.bound() : kForbidden, limit);
    const bool found = inner.found();
    if (found) take(inner.take_choice());
    SHW_RETURN_IF_ERROR(raise_bound(bound));
    if (proven()) return true;
    if (watch_.expired()) return found_;
    const double most = quantile(known, kMaxShare);
    if (limit >= most) return false;
    limit = found && cost_ < most ? cost_ : most;
  }
}

}  // namespace shw::solver
