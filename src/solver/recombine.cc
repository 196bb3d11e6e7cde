#include "solver/recombine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "solver/search.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

// The rows' slacks differ and a budget has one limit, so another variable, without a choice, uses
// the rest.
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

}  // namespace

std::vector<uint8_t> likely_labels(const PlacementProblem& problem,
                                   std::span<const double> marginals, double share,
                                   LikelyBy likely_by) {
  using Rank = std::pair<uint64_t, double>;  // among the variable's labels; the marginal
  std::vector<Rank> ranks(marginals.size(), {UINT64_MAX, kForbidden}), known;
  std::vector<double> ascending;
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    const uint64_t first = problem.first_label(v);
    const auto own = marginals.subspan(first, problem.num_labels(v));
    ascending.assign(own.begin(), own.end());
    std::ranges::sort(ascending);
    for (size_t i = 0; i < own.size(); ++i) {
      if (std::abs(own[i]) == kForbidden) continue;
      const auto cheaper = std::ranges::lower_bound(ascending, own[i]) - ascending.begin();
      ranks[first + i] = {likely_by == LikelyBy::kRank ? static_cast<uint64_t>(cheaper) : 0,
                          own[i]};
      known.push_back(ranks[first + i]);
    }
  }
  Rank end{};
  if (!known.empty()) {
    const auto nth = static_cast<ptrdiff_t>(share * static_cast<double>(known.size() - 1));
    std::ranges::nth_element(known, known.begin() + nth);
    end = known[static_cast<size_t>(nth)];
  }
  std::vector<uint8_t> likely;
  for (size_t i = 0; i < ranks.size(); ++i)
    likely.push_back(ranks[i] < end || marginals[i] == -kForbidden);
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
