// shardwise solve: solves an exported placement problem exactly.
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "import/iopddl.h"
#include "import/problem_json.h"
#include "solver/problem.h"
#include "tools/commands.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct Options {
  std::string path;
  bool json = false;
  bool tied = false;
  std::string format = "ap-problem-1";
  double time_limit_s = 0;
  uint32_t threads = 0;
};

Result<import::ImportedProblem> read(const Options& options) {
  if (options.format == "ap-problem-1") return import::read_problem(options.path, options.tied);
  import::ImportedProblem imported;
  SHW_ASSIGN_OR_RETURN(imported.problem, import::read_iopddl(options.path));
  for (uint32_t v = 0; v < imported.problem.num_variables(); ++v) imported.variable.push_back(v);
  return imported;
}

void print_json(const import::ImportedProblem& imported, const solver::Solution& solution,
                double seconds) {
  nlohmann::ordered_json out;
  out["objective"] = solution.cost;
  out["bound"] = solution.bound;
  out["proven"] = solution.proven;
  if (!imported.problem.budget_limits().empty())
    out["peak"] = solver::peak_load(imported.problem, 0, solution.choice);
  if (!imported.problem.budget_limits().empty()) {
    auto& prices = out["prices"] = nlohmann::ordered_json::array();
    for (const auto& p : solution.prices) prices.push_back({p.budget, p.point, p.price});
  }
  out["seconds"] = seconds;
  auto& chosen = out["chosen"] = nlohmann::ordered_json::array();
  for (const uint32_t v : imported.variable) {
    if (v == import::ImportedProblem::kNoVariable)
      chosen.push_back(nullptr);
    else
      chosen.push_back(solution.choice[v]);
  }
  std::printf("%s\n", out.dump().c_str());
}

void print_text(const import::ImportedProblem& imported, const solver::Solution& solution,
                double seconds) {
  std::printf("objective  %.12g us\nbound      %.12g us\nproven     %s\nseconds    %.6f\n",
              solution.cost, solution.bound, solution.proven ? "yes" : "no", seconds);
  for (uint32_t b = 0; b < imported.problem.budget_limits().size(); ++b)
    std::printf("budget     %.12g of %.12g\n",
                solver::peak_load(imported.problem, b, solution.choice),
                imported.problem.budget_limits()[b]);
  const auto& s = solution.stats;
  std::printf(
      "problem    %u variables, %llu labels, %u edges; %u variables, %llu labels after presolve\n",
      s.variables, static_cast<unsigned long long>(s.labels), s.edges, s.variables_after_presolve,
      static_cast<unsigned long long>(s.labels_after_presolve));
  std::printf("work       %u sweeps, %u branch nodes\n", s.sweeps, s.branch_nodes);
  if (s.lp_solve_missing)
    std::printf("lp_solve   not installed; it might have proven optimality\n");
}

Status solve_file(const Options& options) {
  SHW_ASSIGN_OR_RETURN(const import::ImportedProblem imported, read(options));
  solver::SolveOptions how;
  how.deadline = Deadline::in(options.time_limit_s);
  how.threads = options.threads;
  Monitor monitor;
  ProgressLine line(monitor);
  const auto start = std::chrono::steady_clock::now();
  SHW_ASSIGN_OR_RETURN(const solver::Solution solution,
                       solver::solve(imported.problem, how, monitor));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json)
    print_json(imported, solution, seconds);
  else
    print_text(imported, solution, seconds);
  return {};
}

}  // namespace

void add_solve(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "solve",
      "Solve an exported placement problem or an IOPDDL instance (JSON, optionally gzipped)");
  verb->add_option("PROBLEM", options->path, "Problem file")->required();
  verb->add_flag("--json", options->json,
                 "Print JSON; `chosen` has one strategy per node of the file, null for outputs");
  verb->add_flag("--tied", options->tied,
                 "Constrain tied nodes to one common strategy; default: each has its own");
  verb->add_option("--format", options->format, "File format")
      ->check(CLI::IsMember({"ap-problem-1", "iopddl"}));
  verb->add_option(
      "--threads", options->threads,
      "Maximum number of threads, used for hard problems with budgets; 0: one per core");
  verb->add_option("--time-limit", options->time_limit_s,
                   "Seconds after which to print the best solution so far")
      ->check(CLI::NonNegativeNumber);
  verb->callback([options, &exit_code] {
    if (const Status status = solve_file(*options); !status.ok()) exit_code = print_error(status);
  });
}

}  // namespace shw::tools
