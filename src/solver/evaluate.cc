// The cost of a labelling, computed from the problem alone. Every answer of the solver is checked
// here, so this file must not use anything else of the folder.
#include <algorithm>
#include <vector>

#include "support/stable_sort.h"

#include "solver/problem.h"

namespace shw::solver {
namespace {

// Neumaier's compensated summation: sums have ten thousand terms, and are compared at 1e-9.
class Sum {
 public:
  void add(double x) {
    const double t = sum_ + x;
    lost_ += (sum_ < 0 ? -sum_ : sum_) >= (x < 0 ? -x : x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// A variable becomes live or dead.
struct Event {
  uint32_t budget, point;
  double change;
};

// The maximum load of every budget.
std::vector<double> peaks(const PlacementProblem& problem, std::span<const uint32_t> choice) {
  std::vector<Event> events;
  for (const PlacementProblem::Usage& u : problem.usages()) {
    if (u.first >= u.end) continue;
    const double usage = problem.usage_of(u)[choice[u.variable]];
    events.push_back({u.budget, u.first, usage});
    events.push_back({u.budget, u.end, -usage});
  }
  sort_stably(events, [](const Event& a, const Event& b) {
    return a.budget != b.budget ? a.budget < b.budget : a.point < b.point;
  });
  std::vector<double> peak(problem.budget_limits().size(), -kForbidden);
  Sum load;
  for (size_t i = 0; i < events.size(); ++i) {
    load.add(events[i].change);
    const bool last = i + 1 == events.size() || events[i + 1].budget != events[i].budget;
    if (last)
      load = {};  // nothing is live any more: discard rounding
    else if (events[i + 1].point != events[i].point)
      peak[events[i].budget] = std::max(peak[events[i].budget], load.value());
  }
  for (double& p : peak)
    if (p == -kForbidden) p = 0;
  return peak;
}

bool within_budgets(const PlacementProblem& problem, std::span<const uint32_t> choice) {
  constexpr double kRounding = 1e-12;
  if (problem.budget_limits().empty()) return true;
  const std::vector<double> peak = peaks(problem, choice);
  for (size_t b = 0; b < peak.size(); ++b) {
    const double limit = problem.budget_limits()[b];
    if (peak[b] > limit + kRounding * (limit < 0 ? -limit : limit)) return false;
  }
  return true;
}

}  // namespace

double evaluate(const PlacementProblem& problem, std::span<const uint32_t> choice) {
  if (choice.size() != problem.num_variables()) return kForbidden;
  Sum sum;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    if (choice[v] >= problem.num_labels(v)) return kForbidden;
    const double c = problem.unary(v)[choice[v]];
    if (c == kForbidden) return kForbidden;
    sum.add(c);
  }
  for (const PlacementProblem::Edge& e : problem.edges()) {
    const double c = problem.edge_cost(e, choice[e.a], choice[e.b]);
    if (c == kForbidden) return kForbidden;
    sum.add(c);
  }
  return within_budgets(problem, choice) ? sum.value() : kForbidden;
}

double peak_load(const PlacementProblem& problem, uint32_t budget,
                 std::span<const uint32_t> choice) {
  return peaks(problem, choice)[budget];
}

}  // namespace shw::solver
