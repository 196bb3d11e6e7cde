// shardwise pareto: step time against memory, under a series of memory limits.
#include <cstdio>
#include <memory>
#include <string>

#include "compiler/pareto.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct ParetoOptions {
  PlanOptions plan;
  uint32_t points = 12;
  uint64_t branch_nodes = 0;
  std::string svg;
  bool json = false;
};

solver::SolveOptions solve_options(const ParetoOptions& o, const PreparedModel& model) {
  solver::SolveOptions options = pareto_options(model, model.options().solver);
  if (o.branch_nodes != 0) options.max_branch_nodes = o.branch_nodes;
  return options;
}

Status run_pareto(const ParetoOptions& o) {
  SHW_ASSIGN_OR_RETURN(CompileOptions options, o.plan.options());
  if (options.memory_limit_bytes != 0)
    return invalid_argument("--memory: pareto tries many limits itself; omit this option");
  SHW_RETURN_IF_ERROR(import::check_folder_of(o.svg));
  options.keep_graph = false;
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.plan.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<const PreparedModel> model,
                       PreparedModel::create(graph, options, monitor));
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                       ConstrainedModel::create(*model, options, monitor));
  SHW_ASSIGN_OR_RETURN(const Pareto front,
                       pareto(question, o.points, solve_options(o, *model), monitor));
  line.end();
  if (!o.svg.empty()) SHW_RETURN_IF_ERROR(import::write_file(o.svg, pareto_svg(*model, front)));
  if (o.json)
    std::printf("%s\n", pareto_json(*model, front).c_str());
  else
    std::printf("%s", pareto_text(*model, front).c_str());
  return {};
}

}  // namespace

void add_pareto(CommandLine& command_line) {
  auto o = std::make_shared<ParetoOptions>();
  Verb verb = command_line.verb(
      "pareto", "Trade step time for memory: the cheapest plans under a series of memory limits");
  o->plan.add_to(verb);
  verb.option("--points", o->points, "Number of points to find, if that many exist")
      .between(2, 1000)
      .shows_default();
  verb.option("--branch-nodes", o->branch_nodes,
              "Branch-and-bound nodes per limit; then the best so far is reported with its gap. "
              "Default: by the size of the graph");
  verb.option("--svg", o->svg, "Write a chart of the curve to this file");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_pareto(*o); });
}

}  // namespace shw::tools
