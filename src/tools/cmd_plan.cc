// shardwise plan: a graph and a mesh in, a plan out.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "answers/export.h"
#include "compiler/pareto.h"
#include "compiler/pipeline.h"
#include "import/aten_table.h"
#include "import/file.h"
#include "plan/placements.h"
#include "plan/report.h"
#include "report/document.h"
#include "simulate/entry_times.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct PlanVerbOptions {
  PlanOptions plan;
  std::string output, placements, exported, report;
  uint32_t pareto_points = 0;
  bool json = false, strip_graph = false;
};

// Largest resident set of this program so far, in bytes; 0: not known. ru_maxrss does not tell: it
// counts what the process held before exec, when it was a copy of the one that started it.
int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::strtoll(line.c_str() + 6, nullptr, 10);
  return 0;
}

void print_phases(const std::vector<PhaseTime>& phases) {
  double total = 0;
  std::printf("time    ");
  for (const PhaseTime& p : phases) {
    std::printf(" %.*s %.1f ms,", static_cast<int>(p.name.size()), p.name.data(), p.seconds * 1e3);
    total += p.seconds;
  }
  std::printf(" total %.1f ms\n", total * 1e3);
}

void print_json(const Compiled& compiled) {
  auto j = nlohmann::ordered_json::parse(
      plan_json(compiled.plan, entry_times(compiled.plan.program), /*with_decisions=*/false));
  double total = 0;
  for (const PhaseTime& p : compiled.phases) {
    j["seconds"][std::string(p.name)] = p.seconds;
    total += p.seconds;
  }
  j["seconds"]["total"] = total;
  j["peak_rss_bytes"] = peak_rss_bytes();
  j["solver"] = {{"sweeps", compiled.solve_stats.sweeps},
                 {"variables", compiled.solve_stats.variables},
                 {"labels", compiled.solve_stats.labels},
                 {"edges", compiled.solve_stats.edges},
                 {"branch_nodes", compiled.solve_stats.branch_nodes}};
  std::printf("%s\n", j.dump(1).c_str());
}

// The curve is over all memory limits, so its model has none.
Result<std::string> pareto_of(std::span<const uint8_t> graph, CompileOptions options,
                              uint32_t points, Monitor& monitor) {
  options.memory_limit_bytes = 0;
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<const PreparedModel> model,
                       PreparedModel::create(graph, options, monitor));
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                       ConstrainedModel::create(*model, options, monitor));
  SHW_ASSIGN_OR_RETURN(const Pareto front,
                       pareto(question, points, pareto_options(*model, options.solver), monitor));
  return pareto_json(*model, front);
}

Status write_report(const PlanVerbOptions& o, std::span<const uint8_t> graph, const Solved& solved,
                    const Plan& plan, Monitor& monitor) {
  const CompileOptions& options = solved.model->options();
  report::Extras extras;
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                       ConstrainedModel::create(*solved.model, options, monitor));
  SHW_ASSIGN_OR_RETURN(const report::Reasons reasons,
                       report::reasons(question, solved.placed, plan, options.solver, monitor));
  extras.reasons = &reasons;
  if (o.pareto_points > 0) {
    SHW_ASSIGN_OR_RETURN(extras.pareto, pareto_of(graph, options, o.pareto_points, monitor));
  }
  SHW_ASSIGN_OR_RETURN(const std::string page, report::page(plan, extras));
  return import::write_file(o.report, page);
}

Status run_plan(const PlanVerbOptions& o) {
  if (o.pareto_points > 0 && o.report.empty())
    return invalid_argument("--pareto adds a curve to a report: give --report, too");
  for (const std::string* path : {&o.output, &o.placements, &o.exported, &o.report})
    SHW_RETURN_IF_ERROR(import::check_folder_of(*path));
  SHW_ASSIGN_OR_RETURN(CompileOptions c, o.plan.options());
  c.keep_graph = !o.strip_graph;
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.plan.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const Solved solved, solve_once(graph, c, monitor));
  SHW_ASSIGN_OR_RETURN(const Compiled compiled, finish(*solved.model, c, solved.placed, monitor));
  SHW_RETURN_IF_ERROR(import::write_file(o.output, compiled.bytes));
  if (!o.report.empty())
    SHW_RETURN_IF_ERROR(write_report(o, graph, solved, compiled.plan, monitor));
  line.end();
  if (!o.placements.empty())
    SHW_RETURN_IF_ERROR(import::write_file(o.placements, placements_json(compiled.plan)));
  if (!o.exported.empty())
    SHW_RETURN_IF_ERROR(import::write_file(
        o.exported, answers::export_json(*solved.model, solved.placed, import::aten_target)));
  if (o.json) {
    print_json(compiled);
    return {};
  }
  std::printf("%s", plan_text(compiled.plan, entry_times(compiled.plan.program)).c_str());
  print_phases(compiled.phases);
  std::printf("written  %s, %s\n", o.output.c_str(),
              human_bytes(static_cast<int64_t>(compiled.bytes.size())).c_str());
  return {};
}

}  // namespace

void add_plan(CommandLine& command_line) {
  auto o = std::make_shared<PlanVerbOptions>();
  Verb verb = command_line.verb(
      "plan", "Find the optimal layout of every tensor of a graph on a mesh, and write the plan");
  o->plan.add_to(verb);
  verb.flag("--strip-graph", o->strip_graph,
            "Do not store the graph in the plan (`run --verify` needs it)");
  verb.option("--save-placements", o->placements,
              "Write the placement of every node to this file (JSON), for --placements");
  verb.option("--export-json", o->exported,
              "Write the solution to this file in AutoParallel's JSON export format");
  verb.option("--report", o->report,
              "Write a report to this file (HTML): what `shardwise report` writes, and why each "
              "tensor has its layout, with the price of every other layout");
  verb.option("--pareto", o->pareto_points,
              "With --report: show step time against memory, with this many points")
      .between(2, 1000);
  verb.option("-o,--output", o->output, "Plan file to write").required();
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_plan(*o); });
}

}  // namespace shw::tools
