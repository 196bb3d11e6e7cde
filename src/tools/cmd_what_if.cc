// shardwise what-if: plans again under other options and compares the plans.
#include <cstdio>
#include <memory>
#include <string>

#include "answers/what_if.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct WhatIfOptions {
  PlanOptions plan;
  OptionChanges changes;
  std::string output;
  bool json = false, nodes = false;
};

Status run_what_if(const WhatIfOptions& o) {
  SHW_RETURN_IF_ERROR(import::check_folder_of(o.output));
  SHW_ASSIGN_OR_RETURN(const CompileOptions before, o.plan.options());
  SHW_ASSIGN_OR_RETURN(const CompileOptions after, o.changes.applied_to(o.plan).options());
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.plan.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const answers::WhatIf answer,
                       answers::what_if(graph, before, after, monitor));
  line.end();
  std::printf(
      "%s", o.json ? (to_json(answer.diff) + "\n").c_str() : to_text(answer.diff, o.nodes).c_str());
  if (o.output.empty()) return {};
  return import::write_file(o.output, answer.after.bytes);
}

}  // namespace

void add_what_if(CommandLine& command_line) {
  auto o = std::make_shared<WhatIfOptions>();
  Verb verb =
      command_line.verb("what-if", "Plan again under other options, and compare the two plans");
  o->plan.add_to(verb);
  o->changes.add_to(verb, "What changes");
  verb.option("-o,--output", o->output, "Write the new plan to this file");
  verb.flag("--nodes", o->nodes, "List every node that changes");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_what_if(*o); });
}

}  // namespace shw::tools
