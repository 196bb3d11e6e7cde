#include "solver/recombine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "solver/search.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

// A budget has one limit, but the slacks of its rows differ. So an additional variable with one
// label uses the difference.
void add_budget(const BudgetRows& rows, std::span<const std::vector<uint32_t>> labels,
                PlacementProblem& core) {
  const auto n = static_cast<uint32_t>(rows.size());
  double most = 0;
  for (uint32_t r = 0; r < n; ++r) most = std::max(most, rows.slack(r));
  const uint32_t budget = core.add_budget(most);
  const uint32_t rest = core.add_variable(std::array{0.0});
  for (uint32_t r = 0, end = 0; r < n; r = end) {
    for (end = r + 1; end < n && rows.slack(end) == rows.slack(r);) ++end;
    if (rows.slack(r) < most)
      core.add_usage(budget, rest, r, end, std::array{most - rows.slack(r)});
  }
  std::vector<double> usage;
  for (const BudgetRows::Use& use : rows.uses()) {
    usage.clear();
    for (const uint32_t x : labels[use.variable]) usage.push_back(rows.excess(use)[x]);
    core.add_usage(budget, use.variable, use.first_row, use.end_row, usage);
  }
}

PlacementProblem core_of(const PlacementProblem& problem, const BudgetRows& rows,
                         std::span<const std::vector<uint32_t>> labels) {
  PlacementProblem core;
  std::vector<double> costs;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    costs.clear();
    for (const uint32_t x : labels[v]) costs.push_back(problem.unary(v)[x]);
    core.add_variable(costs);
  }
  for (const auto& e : problem.edges()) {
    costs.clear();
    for (const uint32_t x : labels[e.a])
      for (const uint32_t y : labels[e.b]) costs.push_back(problem.edge_cost(e, x, y));
    core.add_edge(e.a, e.b,
                  core.add_matrix(static_cast<uint32_t>(labels[e.a].size()),
                                  static_cast<uint32_t>(labels[e.b].size()), costs));
  }
  add_budget(rows, labels, core);
  return core;
}

// The number of labels per variable that must be sorted to find the labels of the lowest ranks.
size_t depth_of(const PlacementProblem& problem, std::span<const double> marginals,
                size_t least_labels) {
  std::vector<size_t> variables;  // by number of labels
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    const auto own = marginals.subspan(problem.first_label(v), problem.num_labels(v));
    const auto known = static_cast<size_t>(
        std::ranges::count_if(own, [](double m) { return std::abs(m) != kForbidden; }));
    if (known > 0 && std::ranges::count(own, -kForbidden) > 0) return SIZE_MAX;
    variables.resize(std::max(variables.size(), known + 1));
    ++variables[known];
  }
  size_t depth = 0;
  for (size_t labels = 0, left = problem.num_variables(); labels < least_labels;) {
    left -= depth < variables.size() ? variables[depth] : 0;
    if (left == 0) return SIZE_MAX;
    labels += left;
    ++depth;
  }
  return depth;
}

}  // namespace

std::vector<uint8_t> likely_labels(const PlacementProblem& problem,
                                   std::span<const double> marginals, double share,
                                   LikelyBy likely_by) {
  struct Rank {
    uint32_t cheaper;  // of the variable's labels
    double marginal;
    size_t label;
  };
  const auto is_before = [](const Rank& a, const Rank& b) {
    return std::pair(a.cheaper, a.marginal) < std::pair(b.cheaper, b.marginal);
  };
  std::vector<Rank> known;
  const auto num_known =
      std::ranges::count_if(marginals, [](double m) { return std::abs(m) != kForbidden; });
  const auto nth =
      static_cast<ptrdiff_t>(share * static_cast<double>(std::max<ptrdiff_t>(num_known - 1, 0)));
  const bool by_rank = likely_by == LikelyBy::kRank;
  const size_t depth = by_rank ? depth_of(problem, marginals, static_cast<size_t>(nth) + 1) : 0;
  std::vector<double> ascending;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    const uint64_t first = problem.first_label(v);
    const auto own = marginals.subspan(first, problem.num_labels(v));
    if (std::ranges::count(own, -kForbidden) == std::ssize(own)) continue;
    ascending.assign(own.begin(), own.end());
    const size_t sorted = std::min(depth, ascending.size());
    std::ranges::partial_sort(ascending, ascending.begin() + static_cast<ptrdiff_t>(sorted));
    ascending.resize(sorted);
    for (size_t i = 0; i < own.size(); ++i) {
      if (std::abs(own[i]) == kForbidden || (by_rank && own[i] > ascending.back())) continue;
      const auto cheaper = std::ranges::lower_bound(ascending, own[i]) - ascending.begin();
      known.push_back({static_cast<uint32_t>(cheaper), own[i], first + i});
    }
  }
  std::vector<uint8_t> likely(marginals.size(), 0);
  for (size_t i = 0; i < likely.size(); ++i) likely[i] = marginals[i] == -kForbidden;
  if (known.empty()) return likely;
  std::ranges::nth_element(known, known.begin() + nth, is_before);
  const Rank end = known[static_cast<size_t>(nth)];
  for (const Rank& rank : known)
    if (is_before(rank, end)) likely[rank.label] = 1;
  return likely;
}

Result<Recombined> recombine(const PlacementProblem& problem, const BudgetRows& rows,
                             std::span<const uint8_t> allowed, std::span<const uint32_t> choice,
                             const RecombineOptions& how, Watch& watch) {
  const uint32_t n = problem.num_variables();
  std::vector<std::vector<uint32_t>> labels(n);
  std::vector<uint32_t> start;
  uint64_t cells = 0;
  for (uint32_t v = 0; v < n; ++v)
    for (uint32_t x = 0; x < problem.num_labels(v); ++x) {
      const bool is_chosen = !choice.empty() && x == choice[v];
      if (is_chosen) start.push_back(static_cast<uint32_t>(labels[v].size()));
      if (is_chosen || allowed[problem.first_label(v) + x]) labels[v].push_back(x);
    }
  for (const auto& e : problem.edges()) cells += labels[e.a].size() * labels[e.b].size();
  start.push_back(0);
  SHW_RETURN_IF_ERROR(watch.poll(10 * (cells + problem.first_label(n))));
  const PlacementProblem core = core_of(problem, rows, labels);

  SolveOptions options;
  options.relative_gap = how.relative_gap;
  options.max_branch_nodes = how.max_branch_nodes;
  options.use_lp_solve = false;
  WarmStart warm;  // of another problem, but for the prices
  for (uint32_t r = 0; r < how.prices.size(); ++r)
    if (how.prices[r] > 0) warm.prices.push_back({0, r, how.prices[r]});
  options.warm = &warm;
  const Watch::Part quiet(watch);
  Search search(core, options, watch);
  if (!choice.empty()) search.take(std::move(start));
  const Status status = close_gap_within_budgets(search, core, how.is_rough);
  if (!status.ok() && status.code() != Code::kFailedPrecondition) return status;
  Recombined result;
  result.closed = !status.ok() || search.proven();
  result.choice.assign(choice.begin(), choice.end());
  if (search.found()) {
    result.choice.resize(n);
    for (uint32_t v = 0; v < n; ++v) result.choice[v] = labels[v][search.choice()[v]];
  }
  if (!search.prices().empty()) result.prices.assign(rows.size(), 0);
  for (const BudgetPrice& price : search.prices()) result.prices[price.point] += price.price;
  return result;
}

}  // namespace shw::solver
