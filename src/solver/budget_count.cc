#include "solver/budget_count.h"
#include "solver/parameters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace shw::solver {
namespace {

using namespace parameters::budget_count;

// Statistics of a class in recent labellings, by label of the root.
struct Habits {
  uint32_t members = 0;
  std::vector<double> share, price;  // summed over the variables
  std::vector<uint32_t> seen;

  double mean_price(uint32_t label) const { return price[label] / std::max(seen[label], 1u); }
};

std::map<uint32_t, Habits> habits_of(const PlacementProblem& problem, const RootLabels& root,
                                     std::span<const uint32_t> classes,
                                     const Relaxation& relaxation) {
  std::map<uint32_t, Habits> by_class;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    const uint32_t number = classes[root.variable[v]];
    if (number == kUncounted) continue;
    Habits& h = by_class[number];
    ++h.members;
    for (uint64_t i = problem.first_label(v); i < problem.first_label(v + 1); ++i) {
      const uint32_t label = root.label[i];
      if (label >= h.seen.size()) {
        h.seen.resize(label + 1);
        h.share.resize(label + 1);
        h.price.resize(label + 1);
      }
      ++h.seen[label];
      h.share[label] += static_cast<double>(relaxation.frequency()[i]);
      h.price[label] += relaxation.label_prices()[i];
    }
  }
  return by_class;
}

// Finds the labels whose priced usage is above the mean. Returns how much labellings vary around
// the mean.
double dear_labels(const Habits& h, std::vector<uint8_t>& in_set) {
  double mean = 0, total = 1e-30, spread = 0;
  for (uint32_t i = 0; i < h.seen.size(); ++i)
    mean += h.share[i] * h.mean_price(i), total += h.share[i];
  mean /= total;
  in_set.assign(h.seen.size(), 0);
  for (uint32_t i = 0; i < h.seen.size(); ++i) {
    if (h.seen[i] == 0) continue;
    spread += h.share[i] * std::abs(h.mean_price(i) - mean);
    in_set[i] = h.mean_price(i) > mean;
  }
  return spread > 1e-9 * (1 + mean) * total ? spread : 0;
}

bool is_in(const Count& count, uint32_t label) {
  return label < count.in_set.size() && count.in_set[label] != 0;
}

}  // namespace

std::vector<uint32_t> equal_variables(const PlacementProblem& problem) {
  const uint32_t n = problem.num_variables();
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> tables(n);  // and the side
  for (const auto& e : problem.edges()) {
    tables[e.a].push_back({e.matrix, e.transposed});
    tables[e.b].push_back({e.matrix, 1 - e.transposed});
  }
  for (auto& t : tables) std::ranges::sort(t);
  std::map<std::pair<std::vector<std::pair<uint32_t, uint32_t>>, std::vector<double>>,
           std::vector<uint32_t>>
      equal;
  for (uint32_t v = 0; v < n; ++v) {
    if (problem.num_labels(v) < 2) continue;
    const auto unary = problem.unary(v);
    equal[{std::move(tables[v]), std::vector<double>(unary.begin(), unary.end())}].push_back(v);
  }
  std::vector<uint32_t> classes(n, kUncounted);
  for (const auto& [key, members] : equal)
    if (members.size() >= kFewest)
      for (const uint32_t v : members) classes[v] = members.front();
  return classes;
}

RootLabels root_labels(const PlacementProblem& part, const Postsolve& undo) {
  RootLabels root;
  for (uint32_t v = 0; v < part.num_variables(); ++v) {
    root.variable.push_back(undo.original_variable(v));
    const auto labels = undo.original_labels(v);
    root.label.insert(root.label.end(), labels.begin(), labels.end());
  }
  return root;
}

RootLabels root_labels(const RootLabels& parent, const PlacementProblem& parent_problem,
                       const RestrictedProblem& source, const PlacementProblem& part,
                       const Postsolve& undo) {
  RootLabels root;
  for (uint32_t v = 0; v < part.num_variables(); ++v) {
    const uint32_t old = undo.original_variable(v);
    root.variable.push_back(parent.variable[old]);
    for (const uint32_t i : undo.original_labels(v))
      root.label.push_back(parent.label[parent_problem.first_label(old) +
                                        source.label[source.problem.first_label(old) + i]]);
  }
  return root;
}

std::vector<Count> counts_within(std::span<const Count> counts, std::span<const uint32_t> classes,
                                 const RootLabels& parent, const PlacementProblem& parent_problem,
                                 const RestrictedProblem& source, const RootLabels& part,
                                 const Postsolve& undo) {
  std::vector<Count> left(counts.begin(), counts.end());
  if (left.empty()) return left;
  undo.for_each_settled([&](uint32_t v, uint32_t i) {
    for (Count& c : left) {
      if (c.class_number != classes[parent.variable[v]]) continue;
      --c.members;
      if (!is_in(c, parent.label[parent_problem.first_label(v) +
                                 source.label[source.problem.first_label(v) + i]]))
        continue;
      c.least -= c.least > 0;
      c.most -= c.most > 0;
    }
  });
  std::map<uint32_t, uint32_t> members;
  for (const uint32_t v : part.variable) ++members[classes[v]];
  std::erase_if(left, [&](const Count& c) { return c.members != members[c.class_number]; });
  for (Count& c : left) c.most = std::min(c.most, c.members);
  return left;
}

std::optional<CountSplit> split_count(const PlacementProblem& problem, const RootLabels& root,
                                      std::span<const uint32_t> classes,
                                      const Relaxation& relaxation, std::span<const Count> counts,
                                      std::span<const uint32_t> incumbent) {
  std::optional<CountSplit> best;
  double best_spread = 0, mean = 0;
  bool is_first = false;
  for (const auto& [number, habits] : habits_of(problem, root, classes, relaxation)) {
    if (habits.members < kFewest) continue;
    Count count{number, {}, habits.members, 0, habits.members};
    double spread = dear_labels(habits, count.in_set);
    const auto known = std::ranges::find(counts, number, &Count::class_number);
    if (known != counts.end()) count = *known;
    double taken = 0;
    for (uint32_t i = 0; i < habits.share.size(); ++i)
      if (is_in(count, i)) taken += habits.share[i];
    if (taken < count.least + kBalanced || taken > count.most - kBalanced) continue;
    if (spread <= best_spread) continue;
    best_spread = spread;
    mean = taken;
    is_first = known == counts.end();
    best = CountSplit{std::move(count), 0};
  }
  if (!best) return best;
  const Count& c = best->count;
  auto at = static_cast<uint32_t>(mean);
  // The first split of a class should exclude the incumbent from one half, and leave few other
  // cheap labellings there.
  if (is_first && !incumbent.empty()) {
    uint32_t has = 0;
    for (const uint32_t v : root.variable)
      has += classes[v] == c.class_number && is_in(c, incumbent[v]);
    at = mean < has ? has - 1 : has;
  }
  best->at_most = std::clamp(at, c.least, c.most - 1);
  return best;
}

BudgetRows with_count(const BudgetRows& rows, const PlacementProblem& problem,
                      const RootLabels& root, std::span<const uint32_t> classes,
                      const CountSplit& split, bool lower_half, uint32_t origin) {
  const Count& count = split.count;
  std::vector<BudgetRows::Member> members;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    if (classes[root.variable[v]] != count.class_number) continue;
    BudgetRows::Member& m = members.emplace_back(BudgetRows::Member{v, {}});
    for (uint64_t i = problem.first_label(v); i < problem.first_label(v + 1); ++i)
      m.counts.push_back(is_in(count, root.label[i]) == lower_half);
  }
  const uint32_t limit = lower_half ? split.at_most : count.members - split.at_most - 1;
  return rows.with_limit(problem, members, limit, origin);
}

}  // namespace shw::solver
