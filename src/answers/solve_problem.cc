#include "answers/solve_problem.h"

#include <chrono>

#include "import/iopddl.h"
#include "import/problem_json.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::answers {
namespace {

using import::ImportedProblem;
static_assert(SolvedProblem::kNoStrategy == ImportedProblem::kNoVariable);

Result<ImportedProblem> parse(ProblemFormat format, std::span<const uint8_t> bytes,
                              const std::string& what, bool tied, uint64_t max_text_bytes) {
  if (format == ProblemFormat::kApProblem)
    return import::parse_problem(bytes, what, tied, max_text_bytes);
  if (tied) return invalid_argument("nodes of this format have no roots to tie them by");
  ImportedProblem imported;
  SHW_ASSIGN_OR_RETURN(imported.problem, import::parse_iopddl(bytes, what, max_text_bytes));
  for (uint32_t v = 0; v < imported.problem.num_variables(); ++v) imported.variable.push_back(v);
  return imported;
}

}  // namespace

Result<SolvedProblem> solve_problem(ProblemFormat format, std::span<const uint8_t> bytes,
                                    const std::string& what, bool tied,
                                    const solver::SolveOptions& options, Monitor& monitor,
                                    uint64_t max_text_bytes) {
  SHW_ASSIGN_OR_RETURN(const ImportedProblem imported,
                       parse(format, bytes, what, tied, max_text_bytes));
  SolvedProblem solved;
  const auto start = std::chrono::steady_clock::now();
  SHW_ASSIGN_OR_RETURN(solved.solution, solver::solve(imported.problem, options, monitor));
  solved.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::span<const double> limits = imported.problem.budget_limits();
  for (uint32_t b = 0; b < limits.size(); ++b)
    solved.budgets.push_back(
        {solver::peak_load(imported.problem, b, solved.solution.choice), limits[b]});
  for (const uint32_t v : imported.variable)
    solved.chosen.push_back(v == ImportedProblem::kNoVariable ? SolvedProblem::kNoStrategy
                                                              : solved.solution.choice[v]);
  return solved;
}

std::string to_json(const SolvedProblem& solved) {
  JsonWriter out;
  const solver::Solution& s = solved.solution;
  out.begin_object().member("objective", s.cost).member("bound", s.bound);
  out.member("proven", s.proven);
  if (!solved.budgets.empty()) {
    out.member("peak", solved.budgets.front().peak).key("prices").begin_array();
    for (const solver::BudgetPrice& p : s.prices)
      out.begin_array().value(p.budget).value(p.point).value(p.price).end_array();
    out.end_array();
  }
  out.member("seconds", solved.seconds).key("chosen").begin_array();
  for (const uint32_t strategy : solved.chosen) {
    if (strategy == SolvedProblem::kNoStrategy)
      out.value(std::numeric_limits<double>::quiet_NaN());  // null
    else
      out.value(strategy);
  }
  return out.end_array().end_object().take();
}

std::string to_text(const SolvedProblem& solved) {
  const solver::Solution& s = solved.solution;
  std::string text =
      format("objective  %.12g us\nbound      %.12g us\nproven     %s\nseconds    %.6f\n", s.cost,
             s.bound, s.proven ? "yes" : "no", solved.seconds);
  for (const BudgetLoad& b : solved.budgets)
    text += format("budget     %.12g of %.12g\n", b.peak, b.limit);
  const solver::SolveStats& stats = s.stats;
  text += format(
      "problem    %u variables, %llu labels, %u edges; %u variables, %llu labels after presolve\n",
      stats.variables, static_cast<unsigned long long>(stats.labels), stats.edges,
      stats.variables_after_presolve, static_cast<unsigned long long>(stats.labels_after_presolve));
  text += format("work       %u sweeps, %u branch nodes\n", stats.sweeps, stats.branch_nodes);
  if (stats.lp_solve_missing) text += "lp_solve   not installed; it might have proven optimality\n";
  return text;
}

}  // namespace shw::answers
