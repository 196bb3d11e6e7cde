// shw_solution: solves placement problems without a graph.
#include "shardwise/solution.h"

#include "answers/solve_problem.h"
#include "blob.h"
#include "compile_options.h"

using namespace shw;
using namespace shw::capi;

struct shw_solution {
  ContextRef context;
  answers::SolvedProblem ours;
};

namespace shw::capi {
namespace {

constexpr size_t kSolutionOptionsSize_0_2 = SHW_SIZE_TO(shw_solution_options, progress_user);
constexpr size_t kSolutionSummarySize_0_2 = SHW_SIZE_TO(shw_solution_summary, num_branch_nodes);
constexpr size_t kSolutionBudgetSize_0_2 = SHW_SIZE_TO(shw_solution_budget, peak);
constexpr size_t kSolutionPriceSize_0_2 = SHW_SIZE_TO(shw_solution_price, price);

struct SolveRequest {
  answers::ProblemFormat format = answers::ProblemFormat::kApProblem;
  bool tied = false;
  solver::SolveOptions options;
  Monitor monitor;
};

Result<SolveRequest> read_options(const shw_solution_options* options, const TaskExecutor& tasks) {
  SHW_ASSIGN_OR_RETURN(const shw_solution_options in, copy_in(options, kSolutionOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(in.flags, SHW_SOLUTION_TIED));
  if (in.format < 0 || in.format > SHW_PROBLEM_FORMAT_IOPDDL)
    return invalid_argument("problem format " + std::to_string(in.format) + " is unknown");
  if (in.num_threads < 0)
    return invalid_argument("num_threads is " + std::to_string(in.num_threads));
  SolveRequest request;
  if (in.format == SHW_PROBLEM_FORMAT_IOPDDL) request.format = answers::ProblemFormat::kIopddl;
  request.tied = (in.flags & SHW_SOLUTION_TIED) != 0;
  request.options.threads = static_cast<uint32_t>(in.num_threads);
  request.options.tasks = tasks;
  SHW_ASSIGN_OR_RETURN(const double time_limit_s, time_limit_of(in.time_limit_s));
  request.options.deadline = Deadline::in(time_limit_s);
  request.monitor = monitor_of(in.cancel, in.progress, in.progress_user);
  SHW_RETURN_IF_ERROR(request.monitor.poll());
  return request;
}

shw_solution_summary to_c(const answers::SolvedProblem& solved) {
  const solver::Solution& s = solved.solution;
  shw_solution_summary c{};
  c.objective = s.cost;
  c.bound = s.bound;
  c.duration_s = solved.seconds;
  c.proven = s.proven;
  c.num_variables = s.stats.variables;
  c.num_edges = s.stats.edges;
  c.num_strategies = s.stats.labels;
  c.num_variables_after_presolve = s.stats.variables_after_presolve;
  c.num_sweeps = s.stats.sweeps;
  c.num_strategies_after_presolve = s.stats.labels_after_presolve;
  c.num_branch_nodes = s.stats.branch_nodes;
  c.lp_solve_missing = s.stats.lp_solve_missing;
  return c;
}

}  // namespace
}  // namespace shw::capi

void shw_solution_options_init(shw_solution_options* options, size_t size) {
  init_struct(options, size);
}
void shw_solution_summary_init(shw_solution_summary* summary, size_t size) {
  init_struct(summary, size);
}
void shw_solution_budget_init(shw_solution_budget* budget, size_t size) {
  init_struct(budget, size);
}
void shw_solution_price_init(shw_solution_price* price, size_t size) { init_struct(price, size); }

shw_status* shw_solution_create(shw_context* context, shw_bytes problem,
                                const shw_solution_options* options, shw_solution** out_solution) {
  return make_handle(out_solution, "out_solution", [&]() -> Result<std::unique_ptr<shw_solution>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(SolveRequest request, read_options(options, context->ref->tasks()));
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(problem, "problem"));
    SHW_ASSIGN_OR_RETURN(
        answers::SolvedProblem solved,
        answers::solve_problem(request.format, bytes, "the problem", request.tied, request.options,
                               request.monitor, context->ref->max_text_bytes()));
    return std::make_unique<shw_solution>(shw_solution{context->ref, std::move(solved)});
  });
}

shw_status* shw_solution_get_summary(const shw_solution* solution,
                                     shw_solution_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kSolutionSummarySize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(solution);
                       out = to_c(solution->ours);
                       return {};
                     });
}

size_t shw_solution_num_nodes(const shw_solution* solution) {
  return solution ? solution->ours.chosen.size() : 0;
}

size_t shw_solution_strategy(const shw_solution* solution, size_t node) {
  if (node >= shw_solution_num_nodes(solution)) return SHW_NONE;
  const uint32_t strategy = solution->ours.chosen[node];
  return strategy == answers::SolvedProblem::kNoStrategy ? SHW_NONE : strategy;
}

size_t shw_solution_num_budgets(const shw_solution* solution) {
  return solution ? solution->ours.budgets.size() : 0;
}

shw_status* shw_solution_get_budget(const shw_solution* solution, size_t index,
                                    shw_solution_budget* out_budget) {
  return fill_struct(out_budget, "out_budget", kSolutionBudgetSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(solution);
    SHW_RETURN_IF_ERROR(check_index(index, solution->ours.budgets.size(), "budget"));
    out.limit = solution->ours.budgets[index].limit;
    out.peak = solution->ours.budgets[index].peak;
    return {};
  });
}

size_t shw_solution_num_prices(const shw_solution* solution) {
  return solution ? solution->ours.solution.prices.size() : 0;
}

shw_status* shw_solution_get_price(const shw_solution* solution, size_t index,
                                   shw_solution_price* out_price) {
  return fill_struct(out_price, "out_price", kSolutionPriceSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(solution);
    const auto& prices = solution->ours.solution.prices;
    SHW_RETURN_IF_ERROR(check_index(index, prices.size(), "price"));
    out.budget = prices[index].budget;
    out.point = prices[index].point;
    out.price = prices[index].price;
    return {};
  });
}

shw_status* shw_solution_to_json(const shw_solution* solution, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(solution);
    return make_blob(solution->context, answers::to_json(solution->ours));
  });
}

shw_status* shw_solution_to_text(const shw_solution* solution, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(solution);
    return make_blob(solution->context, answers::to_text(solution->ours));
  });
}

void shw_solution_destroy(shw_solution* solution) { delete solution; }
