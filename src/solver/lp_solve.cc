// The problem as a 0-1 program for lp_solve: a column per label and per allowed pair, and rows that
// tie pairs to labels (the local polytope). The last resort for a core that branch and bound does
// not close (without budgets), and a test oracle that shares no code with the rest. At verbosity 0
// lp_solve prints nothing.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "solver/lp_solve_library.h"
#include "solver/parameters.h"
#include "solver/problem.h"
#include "solver/search.h"
#include "solver/watch.h"

namespace shw::solver {
namespace {

using namespace parameters::lp_solve;

struct DeleteLp {
  const LpSolveLibrary* api;
  void operator()(lprec* lp) const { api->delete_lp(lp); }
};
using Lp = std::unique_ptr<lprec, DeleteLp>;

struct Overseer {
  Watch* watch;
  Status status;
  uint64_t questions = 0;

  static int __WINAPI should_stop(lprec*, void* self) {
    auto& o = *static_cast<Overseer*>(self);
    if (o.status.ok()) o.status = o.watch->poll(kCellsPerQuestion);
    return !o.status.ok() || o.watch->expired() || ++o.questions > kMaxQuestions;
  }
};

// A row of a budget, at a point where its load may change.
struct BudgetRow {
  uint32_t budget, point;
};

std::vector<BudgetRow> budget_rows(const PlacementProblem& problem) {
  std::vector<BudgetRow> rows;
  for (uint32_t b = 0; b < problem.budget_limits().size(); ++b) {
    std::set<uint32_t> points;
    for (const auto& u : problem.usages())
      if (u.budget == b && u.first < u.end) points.insert({u.first, u.end});
    if (points.empty())
      points.insert(0);  // the load is zero there
    else
      points.erase(std::prev(points.end()));  // nothing is live any more
    for (const uint32_t point : points) rows.push_back({b, point});
  }
  return rows;
}

// Row numbers start at 1; row 0 is the objective. First a row per variable: Σ labels = 1. Then per
// edge Σ_t y_st = x_s for each s, and Σ_s y_st = x_t for each t. Then the budget rows.
Lp build(const LpSolveLibrary& api, const PlacementProblem& problem) {
  const uint32_t n = problem.num_variables();
  const uint64_t labels = problem.first_label(n);
  uint64_t rows = n, columns = labels;
  std::vector<int> edge_row;  // of (edge, label 0 of a); the rows of b follow those of a
  for (const auto& e : problem.edges()) {
    edge_row.push_back(static_cast<int>(rows) + 1);
    rows += problem.num_labels(e.a) + problem.num_labels(e.b);
    columns += uint64_t{problem.num_labels(e.a)} * problem.num_labels(e.b);
  }
  const std::vector<BudgetRow> budgets = budget_rows(problem);
  const uint64_t first_budget_row = rows + 1;
  rows += budgets.size();
  if (columns > kMaxColumns) return {nullptr, {&api}};
  Lp lp(api.make_lp(static_cast<int>(rows), 0), DeleteLp{&api});
  if (lp == nullptr) return {nullptr, {&api}};
  api.set_verbose(lp.get(), NEUTRAL);
  api.set_minim(lp.get());
  if (!api.resize_lp(lp.get(), static_cast<int>(rows), static_cast<int>(columns)))
    return {nullptr, {&api}};
  for (int r = 1; r <= static_cast<int>(rows); ++r) {
    api.set_constr_type(lp.get(), r, EQ);
    api.set_rh(lp.get(), r, r <= static_cast<int>(n) ? 1 : 0);
  }
  for (size_t b = 0; b < budgets.size(); ++b) {
    const auto row = static_cast<int>(first_budget_row + b);
    api.set_constr_type(lp.get(), row, LE);
    api.set_rh(lp.get(), row, problem.budget_limits()[budgets[b].budget]);
  }

  std::vector<std::vector<std::pair<size_t, bool>>> touches(n);  // (edge, v is its a)
  for (size_t i = 0; i < problem.edges().size(); ++i) {
    touches[problem.edges()[i].a].emplace_back(i, true);
    touches[problem.edges()[i].b].emplace_back(i, false);
  }
  std::vector<double> values;
  std::vector<int> at;
  const auto add_column = [&] {
    return api.add_columnex(lp.get(), static_cast<int>(values.size()), values.data(), at.data());
  };
  for (uint32_t v = 0; v < n; ++v)
    for (uint32_t s = 0; s < problem.num_labels(v); ++s) {
      const double cost = problem.unary(v)[s];
      values = {cost == kForbidden ? 0 : cost, 1};
      at = {0, static_cast<int>(v) + 1};
      for (const auto& [e, is_a] : touches[v]) {
        values.push_back(-1);
        at.push_back(edge_row[e] +
                     static_cast<int>((is_a ? 0 : problem.num_labels(problem.edges()[e].a)) + s));
      }
      for (size_t b = 0; b < budgets.size(); ++b) {
        double usage = 0;
        for (const auto& u : problem.usages())
          if (u.variable == v && u.budget == budgets[b].budget && u.first <= budgets[b].point &&
              budgets[b].point < u.end)
            usage += problem.usage_of(u)[s];
        if (usage == 0) continue;
        values.push_back(usage);
        at.push_back(static_cast<int>(first_budget_row + b));
      }
      if (!add_column()) return {nullptr, {&api}};
      const auto column = static_cast<int>(problem.first_label(v) + s + 1);
      api.set_int(lp.get(), column, TRUE);
      api.set_upbo(lp.get(), column, cost == kForbidden ? 0 : 1);
    }
  for (size_t i = 0; i < problem.edges().size(); ++i) {
    const auto& e = problem.edges()[i];
    for (uint32_t s = 0; s < problem.num_labels(e.a); ++s)
      for (uint32_t t = 0; t < problem.num_labels(e.b); ++t) {
        const double cost = problem.edge_cost(e, s, t);
        if (cost == kForbidden) continue;
        values = {cost, 1, 1};
        at = {0, edge_row[i] + static_cast<int>(s),
              edge_row[i] + static_cast<int>(problem.num_labels(e.a) + t)};
        if (!add_column()) return {nullptr, {&api}};
      }
  }
  return lp;
}

// Stores lp_solve's answer in `choice` if it has one.
int run(const LpSolveLibrary& api, lprec* lp, const PlacementProblem& problem, Overseer& overseer,
        std::vector<uint32_t>& choice) {
  api.put_abortfunc(lp, &Overseer::should_stop, &overseer);
  const int outcome = api.solve(lp);
  if (outcome != OPTIMAL && outcome != SUBOPTIMAL) return outcome;
  std::vector<double> x(static_cast<size_t>(api.get_Ncolumns(lp)));
  api.get_variables(lp, x.data());
  for (uint32_t v = 0; v < problem.num_variables(); ++v) {
    const auto first = x.begin() + static_cast<ptrdiff_t>(problem.first_label(v));
    choice.push_back(
        static_cast<uint32_t>(std::max_element(first, first + problem.num_labels(v)) - first));
  }
  return outcome;
}

}  // namespace

Result<bool> close_with_lp_solve(Search& search, const Stage& core, uint64_t max_binaries) {
  const PlacementProblem& p = core.problem;
  if (p.first_label(p.num_variables()) > max_binaries) return false;
  const auto api = search.options().use_lp_solve
                       ? LpSolveLibrary::open()
                       : Result<LpSolveLibrary>(Status(Code::kNotFound, ""));
  search.stats().lp_solve_missing = !api.ok();
  if (!api.ok()) return false;
  const Lp lp = build(*api, p);
  if (lp == nullptr) return false;
  if (search.cost() != kForbidden) api->set_obj_bound(lp.get(), search.cost() - core.constant);
  Overseer overseer{&search.watch(), {}};
  std::vector<uint32_t> choice;
  const int outcome = run(*api, lp.get(), p, overseer, choice);
  SHW_RETURN_IF_ERROR(overseer.status);
  if (!choice.empty()) search.offer(core, choice);
  return outcome == OPTIMAL || outcome == INFEASIBLE;
}

Result<Solution> solve_with_lp_solve(const PlacementProblem& problem, double time_limit_s) {
  SHW_RETURN_IF_ERROR(problem.validate());
  SHW_ASSIGN_OR_RETURN(const LpSolveLibrary api, LpSolveLibrary::open());
  const Lp lp = build(api, problem);
  if (lp == nullptr)
    return Status(Code::kResourceExhausted, "the problem is too large for lp_solve");
  Monitor monitor;
  Watch watch(monitor, Deadline::in(time_limit_s));
  Overseer overseer{&watch, {}};
  Solution solution;
  const int outcome = run(api, lp.get(), problem, overseer, solution.choice);
  if (outcome == INFEASIBLE) return failed_precondition("no labelling has finite cost");
  if (solution.choice.empty() && problem.num_variables() > 0)
    return Status(Code::kDeadlineExceeded, "lp_solve found no labelling in time");
  solution.cost = evaluate(problem, solution.choice);
  solution.proven = outcome == OPTIMAL;
  solution.bound = solution.proven ? solution.cost : -kForbidden;
  return solution;
}

}  // namespace shw::solver
