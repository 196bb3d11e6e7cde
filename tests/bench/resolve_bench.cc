// Measures what a question about a plan costs the solver. Solves a graph once, and then, for one
// node after another, with that node's strategy forbidden: cold, and warm from the first answer.
// Prints JSON.
//   bench_resolve GRAPH.swgraph MESH [NODES=20] [LIMIT_GIB: memory; 0: none]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/constrained_model.h"
#include "import/file.h"

namespace shw::bench {
namespace {

struct Timed {
  solver::Solution solution;
  double ms = 0;
};

Result<Timed> timed_solve(const solver::PlacementProblem& problem, solver::SolveOptions options) {
  options.deadline = Deadline::in(60);
  Monitor monitor;
  Timed timed;
  const auto start = std::chrono::steady_clock::now();
  SHW_ASSIGN_OR_RETURN(timed.solution, solver::solve(problem, options, monitor));
  timed.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Status run(const std::string& path, const char* mesh, uint32_t nodes, double limit_gib) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(path));
  CompileOptions options;
  options.mesh = mesh;
  options.input_layout = "S(0)R";
  options.memory_limit_bytes = static_cast<int64_t>(limit_gib * 0x1p30);
  if (limit_gib > 0) options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const auto model, PreparedModel::create(bytes, options, monitor));
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                       ConstrainedModel::create(*model, options, monitor));
  const solver::PlacementProblem problem = question.problem_within(question.memory_limit());
  SHW_ASSIGN_OR_RETURN(const Timed plain, timed_solve(problem, options.solver));
  solver::SolveOptions keeping = options.solver, warm_options = options.solver;
  keeping.keep_warm = true;
  SHW_ASSIGN_OR_RETURN(const Timed first, timed_solve(problem, keeping));
  warm_options.warm = first.solution.warm.get();
  std::vector<double> cold_ms, warm_ms;
  // largest excess of a warm answer's cost over the cold one, relative to the cold cost
  double worse = 0;
  for (uint32_t i = 0; i < nodes; ++i) {
    const auto v = static_cast<uint32_t>(uint64_t{i} * problem.num_variables() / nodes);
    if (problem.num_labels(v) < 2) continue;
    solver::PlacementProblem other = problem.share();
    std::vector<double> forbid(problem.num_labels(v), 0.0);
    forbid[first.solution.choice[v]] = solver::kForbidden;
    other.add_unary(v, forbid);
    const auto cold = timed_solve(other, options.solver);
    if (cold.status().code() == Code::kFailedPrecondition) continue;
    SHW_RETURN_IF_ERROR(cold.status());
    SHW_ASSIGN_OR_RETURN(const Timed warm, timed_solve(other, warm_options));
    cold_ms.push_back(cold->ms);
    warm_ms.push_back(warm.ms);
    worse = std::max(worse, warm.solution.cost / cold->solution.cost - 1);
  }
  std::printf(
      "{\"first_ms\": %.2f, \"first_keeping_ms\": %.2f, \"resolves\": %zu, \"cold_median_ms\": "
      "%.2f, "
      "\"warm_median_ms\": %.2f, \"warm_worse\": %.1e}\n",
      plain.ms, first.ms, cold_ms.size(), median(cold_ms), median(warm_ms), worse);
  return {};
}

}  // namespace
}  // namespace shw::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s GRAPH.swgraph MESH [NODES] [LIMIT_GIB]\n", argv[0]);
    return 2;
  }
  const shw::Status status =
      shw::bench::run(argv[1], argv[2], argc > 3 ? static_cast<uint32_t>(std::atoi(argv[3])) : 20,
                      argc > 4 ? std::atof(argv[4]) : 0);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
