#include "compiler/planned_limit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compiler/reserve.h"

namespace shw {
namespace {

// Shares of the limit.
constexpr double kNegligible = 1e-4;   // smaller copies do not count
constexpr double kMostReserved = 0.1;  // a larger reserve is refused

}  // namespace

std::optional<CountedCopies> PlannedLimit::more_copies(const Placed& placed) const {
  const std::vector<double> held = model_.model().memory().bytes_at_points(placed.choice);
  CountedCopies copies = now_.copies;
  copies.at.resize(held.size(), 0);
  bool more = false;
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i] > now_.limit && copies.at[i] == 0) copies.at[i] = more = true;
  if (!more) return {};
  copies.from_bytes = kNegligible * limit_;
  return copies;
}

bool PlannedLimit::can_count_copies(const Placed& placed) const {
  return more_copies(placed).has_value();
}

bool PlannedLimit::count_copies(const Placed& placed) {
  std::optional<CountedCopies> copies = more_copies(placed);
  if (!copies) return false;
  now_.copies = *std::move(copies);
  return true;
}

bool PlannedLimit::reserve(const Placed& placed) {
  if (!reserves_ || placed.memory.peak_bytes > limit_) return false;
  const std::vector<double> above = bytes_above_plan(model_.model(), placed, limit_);
  if (std::ranges::any_of(above, [&](double b) { return b > kMostReserved * limit_; }))
    return false;
  std::vector<double>& reserved = now_.reserved;
  reserved.resize(std::max(reserved.size(), above.size()), 0);
  bool more = false;
  for (size_t i = 0; i < above.size(); ++i) {
    more = more || above[i] > reserved[i];
    reserved[i] = std::max(reserved[i], above[i]);
  }
  return more;
}

void PlannedLimit::lower(double by) {
  exceeded_ = now_.limit;
  now_.limit -= std::max(by, kMinStep * limit_);
  if (infeasible_ > 0) now_.limit = std::max(now_.limit, (exceeded_ + infeasible_) / 2);
}

bool PlannedLimit::raise(double too_much) {
  if (has_reserve()) {
    forget_reserve();
    reserves_ = false;  // another placement may need less
    lower(too_much);
    return true;
  }
  if (exceeded_ - now_.limit < kMinStep * limit_) return false;
  infeasible_ = now_.limit;
  now_.limit = (exceeded_ + infeasible_) / 2;
  return true;
}

const solver::PlacementProblem& PlannedLimit::problem() {
  if (problem_ && of_problem_ == now_) return *problem_;
  problem_.reset();  // frees its memory before the next problem is built
  problem_ = model_.problem_within(std::trunc(now_.limit), now_.copies);
  if (now_.limit > 0) add_reserve(*problem_);
  of_problem_ = now_;
  return *problem_;
}

// Adds one variable with a single label, which uses the reserved bytes.
void PlannedLimit::add_reserve(solver::PlacementProblem& problem) const {
  const auto budget = static_cast<uint32_t>(problem.budget_limits().size() - 1);
  const auto no_choice = std::array{0.0};
  const std::vector<double>& reserved = now_.reserved;
  uint32_t variable = UINT32_MAX;
  for (uint32_t i = 0, end = 0; i < reserved.size(); i = end) {
    for (end = i + 1; end < reserved.size() && reserved[end] == reserved[i];) ++end;
    if (reserved[i] == 0) continue;
    if (variable == UINT32_MAX) variable = problem.add_variable(no_choice);
    problem.add_usage(budget, variable, i, end, std::array{reserved[i]});
  }
}

}  // namespace shw
