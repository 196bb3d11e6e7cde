// shardwise compare: well-known recipes and foreign plans beside the optimum.
#include <cstdio>
#include <memory>
#include <string>

#include "compare/compare.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct CompareOptions {
  PlanOptions plan;
  std::vector<std::string> recipes;
  std::string foreign, svg;
  bool json = false;
};

Result<compare::CompareOptions> compare_options(const CompareOptions& o) {
  compare::CompareOptions wanted;
  wanted.recipes = o.recipes;
  if (o.foreign.empty()) return wanted;
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(o.foreign));
  wanted.plans.push_back({"foreign", std::string(bytes.begin(), bytes.end())});
  return wanted;
}

Status run_compare(const CompareOptions& o) {
  SHW_RETURN_IF_ERROR(import::check_folder_of(o.svg));
  SHW_ASSIGN_OR_RETURN(CompileOptions options, o.plan.options());
  options.keep_graph = false;
  SHW_ASSIGN_OR_RETURN(const compare::CompareOptions wanted, compare_options(o));
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.plan.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<const PreparedModel> model,
                       PreparedModel::create(graph, options, monitor));
  SHW_ASSIGN_OR_RETURN(const compare::Table table,
                       compare::compare(*model, options, wanted, monitor));
  line.end();
  if (!o.svg.empty()) SHW_RETURN_IF_ERROR(import::write_file(o.svg, to_svg(table)));
  std::printf("%s", o.json ? (to_json(table) + "\n").c_str() : to_text(table).c_str());
  return {};
}

}  // namespace

void add_compare(CommandLine& command_line) {
  auto o = std::make_shared<CompareOptions>();
  Verb verb = command_line.verb(
      "compare", "Plan by well-known recipes (FSDP, tensor parallel, …), beside the optimum");
  o->plan.add_to(verb);
  verb.option("--recipe", o->recipes,
              "Only this recipe: ddp, fsdp, hsdp, tp, tp-sp, fsdp-tp or cp. Repeatable");
  verb.option("--plan", o->foreign,
              "Also score the layouts in this JSON file, written by `shardwise plan` with "
              "--save-placements or --export-json, or by hand: {\"NAME\": \"LAYOUT\"}");
  verb.option("--svg", o->svg, "Write a chart to this file");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_compare(*o); });
}

}  // namespace shw::tools
