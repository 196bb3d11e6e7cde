#include "solver/budget_rows.h"

#include <algorithm>
#include <cmath>

#include "solver/range_slack.h"
#include "support/stable_sort.h"

namespace shw::solver {
namespace {

constexpr double kLimitRounding = 5e-13;  // of the limit; half of what evaluate() tolerates

// A maximal interval of points with the same live variables.
struct Stretch {
  uint32_t first;
  bool kept;
};

// The intervals of a budget between its first and its last event.
std::vector<Stretch> stretches(std::span<const PlacementProblem::Usage> usages, bool any_negative) {
  struct Event {
    uint32_t point;
    bool begins;
  };
  std::vector<Event> events;
  for (const auto& u : usages) {
    events.push_back({u.first, true});
    events.push_back({u.end, false});
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) { return a.point < b.point; });
  std::vector<Stretch> result;
  bool begins = false;
  for (size_t i = 0; i < events.size();) {
    const uint32_t point = events[i].point;
    bool ends_here = false, begins_here = false;
    for (; i < events.size() && events[i].point == point; ++i)
      (events[i].begins ? begins_here : ends_here) = true;
    if (!result.empty()) result.back().kept = any_negative || (begins && ends_here);
    begins = begins_here;
    if (i < events.size()) result.push_back({point, true});
  }
  return result;
}

// Subtracts prefix sums of `differences` from `values`.
void subtract_sums(std::span<const double> differences, std::span<double> values) {
  double sum = 0;
  for (size_t r = 0; r < values.size(); ++r) {
    sum += differences[r];
    values[r] -= sum;
  }
}

}  // namespace

BudgetRows::BudgetRows(const PlacementProblem& problem) {
  const size_t num_budgets = problem.budget_limits().size();
  std::vector<std::vector<PlacementProblem::Usage>> by_budget(num_budgets);
  for (const auto& u : problem.usages())
    if (u.first < u.end) by_budget[u.budget].push_back(u);
  for (size_t b = 0; b < num_budgets; ++b) {
    const bool any_negative = std::ranges::any_of(by_budget[b], [&](const auto& u) {
      return std::ranges::any_of(problem.usage_of(u), [](double x) { return x < 0; });
    });
    std::vector<uint32_t> begins;
    for (const Stretch& s : stretches(by_budget[b], any_negative))
      if (s.kept) begins.push_back(s.first);
    const auto base = static_cast<uint32_t>(slack_.size());
    const auto row_of = [&](uint32_t point) {
      return base + static_cast<uint32_t>(std::ranges::lower_bound(begins, point) - begins.begin());
    };
    if (by_budget[b].empty()) begins.push_back(0);
    const double limit = problem.budget_limits()[b];
    slack_.resize(base + begins.size(), limit);
    limit_.resize(slack_.size(), limit);
    for (const uint32_t point : begins) points_.push_back({static_cast<uint32_t>(b), point});
    for (const auto& u : by_budget[b]) {
      uses_.push_back({u.variable, row_of(u.first), row_of(u.end), excess_.size()});
      const auto usage = problem.usage_of(u);
      excess_.insert(excess_.end(), usage.begin(), usage.end());
    }
  }
  for (uint32_t r = 0; r < slack_.size(); ++r) origin_.push_back(r);
  sort_stably(uses_, {}, &Use::variable);
  normalise(problem);
}

BudgetRows BudgetRows::restricted(const PlacementProblem& source, std::span<const uint32_t> label,
                                  const PlacementProblem& presolved, const Postsolve& undo) const {
  BudgetRows left;
  left.slack_ = slack_;
  left.limit_ = limit_;
  left.origin_ = origin_;
  const auto here = [&](uint32_t v, uint32_t x) {
    return label.empty() ? x : label[source.first_label(v) + x];
  };
  std::vector<double> taken(size() + 1);  // differences
  undo.for_each_settled([&](uint32_t v, uint32_t x) {
    for (const Use& use : uses(v)) {
      taken[use.first_row] += excess(use)[here(v, x)];
      taken[use.end_row] -= excess(use)[here(v, x)];
    }
  });
  subtract_sums(taken, left.slack_);
  for (uint32_t v = 0; v < presolved.num_variables(); ++v) {
    const uint32_t old = undo.original_variable(v);
    for (const Use& use : uses(old)) {
      left.uses_.push_back({v, use.first_row, use.end_row, left.excess_.size()});
      for (const uint32_t x : undo.original_labels(v))
        left.excess_.push_back(excess(use)[here(old, x)]);
    }
  }
  left.normalise(presolved);
  return left;
}

BudgetRows BudgetRows::with_limit(const PlacementProblem& problem, std::span<const Member> members,
                                  uint32_t limit, uint32_t origin) const {
  double unit = 0;
  for (const Member& m : members)
    for (const Use& use : uses(m.variable))
      unit = std::max(unit, *std::max_element(excess(use), excess(use) + m.counts.size()));
  if (unit == 0) unit = 1;
  BudgetRows more = *this;
  const auto row = static_cast<uint32_t>(size());
  more.slack_.push_back(unit * limit);
  more.limit_.push_back(unit * static_cast<double>(members.size()));
  more.origin_.push_back(origin);
  for (const Member& m : members) {
    more.uses_.push_back({m.variable, row, row + 1, more.excess_.size()});
    for (const uint8_t counts : m.counts) more.excess_.push_back(unit * counts);
  }
  sort_stably(more.uses_, {}, &Use::variable);
  more.normalise(problem);
  return more;
}

// Shifts the minimum excess of every use to zero and drops redundant rows and uses.
void BudgetRows::normalise(const PlacementProblem& problem) {
  // Differences of the rows' maximum loads, and of the common minimum usage.
  std::vector<double> most(slack_.size() + 1), base_load(slack_.size() + 1);
  std::vector<Use> varying;
  for (const Use& use : uses_) {
    double* own = excess_.data() + use.offset;
    const uint32_t k = problem.num_labels(use.variable);
    const double base = *std::min_element(own, own + k);
    for (uint32_t i = 0; i < k; ++i) own[i] -= base;
    const double top = *std::max_element(own, own + k);
    base_load[use.first_row] += base;
    base_load[use.end_row] -= base;
    if (top == 0) continue;
    varying.push_back(use);
    most[use.first_row] += top;
    most[use.end_row] -= top;
  }
  subtract_sums(base_load, slack_);
  std::vector<uint32_t> row(slack_.size() + 1);
  uint32_t kept = 0;
  double load = 0;
  for (uint32_t r = 0; r < row.size(); ++r) {
    row[r] = kept;
    if (r == slack_.size()) break;
    load += most[r];
    const double tolerance = kLimitRounding * std::abs(limit_[r]);
    broken_ |= slack_[r] < -tolerance;
    if (load <= slack_[r] + tolerance) continue;
    slack_[kept] = std::max(slack_[r], 0.0);
    limit_[kept] = limit_[r];
    origin_[kept] = origin_[r];
    ++kept;
  }
  slack_.resize(kept);
  limit_.resize(kept);
  origin_.resize(kept);
  uses_.clear();
  for (const Use& use : varying)
    if (row[use.first_row] < row[use.end_row])
      uses_.push_back({use.variable, row[use.first_row], row[use.end_row], use.offset});
  first_use_.assign(problem.num_variables() + 1, 0);
  for (const Use& use : uses_) ++first_use_[use.variable + 1];
  for (size_t v = 1; v < first_use_.size(); ++v) first_use_[v] += first_use_[v - 1];
}

std::vector<uint8_t> BudgetRows::budgeted() const {
  std::vector<uint8_t> flags(first_use_.size() - 1);
  for (const Use& use : uses_) flags[use.variable] = 1;
  return flags;
}

std::vector<uint8_t> BudgetRows::fitting(const PlacementProblem& problem) const {
  std::vector<uint8_t> fits(problem.first_label(problem.num_variables()), 1);
  std::vector<double> allowed;
  for (size_t r = 0; r < size(); ++r)
    allowed.push_back(slack_[r] + kLimitRounding * std::abs(limit_[r]));
  const RangeSlack slack(std::move(allowed));
  for (const Use& use : uses_) {
    const double* own = excess(use);
    const uint32_t k = problem.num_labels(use.variable);
    const double room = slack.least(use.first_row, use.end_row);
    for (uint32_t i = 0; i < k; ++i)
      if (own[i] > room) fits[problem.first_label(use.variable) + i] = 0;
  }
  return fits;
}

void BudgetRows::price_labels(const PlacementProblem& problem, std::span<const double> prices,
                              std::span<double> by_label) const {
  std::vector<double> before(size() + 1, 0);
  for (size_t r = 0; r < size(); ++r) before[r + 1] = before[r] + prices[r];
  std::ranges::fill(by_label, 0);
  for (const Use& use : uses_) {
    const double price = std::max(before[use.end_row] - before[use.first_row], 0.0);
    if (price == 0) continue;
    double* out = by_label.data() + problem.first_label(use.variable);
    const double* own = excess(use);
    for (uint32_t i = 0; i < problem.num_labels(use.variable); ++i) out[i] += price * own[i];
  }
}

void BudgetRows::overload(std::span<const uint32_t> choice, std::span<double> by_row) const {
  std::vector<double> change(size() + 1, 0);
  for (const Use& use : uses_) {
    const double x = excess(use)[choice[use.variable]];
    change[use.first_row] += x;
    change[use.end_row] -= x;
  }
  double load = 0;
  for (size_t r = 0; r < size(); ++r) {
    load += change[r];
    by_row[r] = load - slack_[r];
  }
}

}  // namespace shw::solver
