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

struct Options {
  PlanOptions plan;
  // Empty: unchanged.
  std::string mesh, hardware, rules, budget, memory, overlap, placements, output;
  std::vector<std::string> inputs, outputs, pins, without;
  bool json = false, nodes = false;
};

// The same options with the changes applied.
PlanOptions changed(const Options& o) {
  PlanOptions p = o.plan;
  for (const auto& [is, was] : {std::pair(&o.mesh, &p.mesh), std::pair(&o.hardware, &p.hardware),
                                std::pair(&o.rules, &p.rules), std::pair(&o.budget, &p.budget),
                                std::pair(&o.memory, &p.memory), std::pair(&o.overlap, &p.overlap),
                                std::pair(&o.placements, &p.placements)})
    if (!is->empty()) *was = *is;
  for (const auto& [more, to] :
       {std::pair(&o.inputs, &p.inputs), std::pair(&o.outputs, &p.outputs),
        std::pair(&o.pins, &p.pins), std::pair(&o.without, &p.compile.without)})
    to->insert(to->end(), more->begin(), more->end());
  return p;
}

Status run(const Options& o) {
  SHW_RETURN_IF_ERROR(import::check_folder_of(o.output));
  SHW_ASSIGN_OR_RETURN(const CompileOptions before, o.plan.options());
  SHW_ASSIGN_OR_RETURN(const CompileOptions after, changed(o).options());
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
  auto o = std::make_shared<Options>();
  Verb verb =
      command_line.verb("what-if", "Plan again under other options, and compare the two plans");
  o->plan.add_to(verb);
  const char* const kGroup = "What changes";
  const auto add_list = [&](const char* name, std::vector<std::string>& list, const char* help) {
    verb.option(name, list, help).repeatable().group(kGroup);
  };
  add_list("--new-pin", o->pins, "Additional pin: NODES=LAYOUTS. Repeatable");
  add_list("--new-without", o->without,
           "Constraint to drop, by its name in conflict reports: \"pin 'norm=RR'\". "
           "Repeatable");
  add_list("--new-input-layout", o->inputs, "[NAME=]LAYOUT of inputs; free: chosen by the planner");
  add_list("--new-output-layout", o->outputs, "[NAME=]LAYOUT of outputs");
  verb.option("--new-mesh", o->mesh, "Another mesh").group(kGroup);
  verb.option("--new-hardware", o->hardware, "Other hardware").group(kGroup);
  verb.option("--new-rules", o->rules, "full or compat").group(kGroup);
  verb.option("--new-param-budget", o->budget, "default, none, or a mean share").group(kGroup);
  verb.option("--new-placements", o->placements, "Placements from a file").group(kGroup);
  verb.option("--new-memory", o->memory, "Memory limit of a rank").group(kGroup);
  verb.option("--new-overlap", o->overlap, "none, prefetch or bounded").group(kGroup);
  verb.option("-o,--output", o->output, "Write the new plan to this file");
  verb.flag("--nodes", o->nodes, "List every node that changes");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run(*o); });
}

}  // namespace shw::tools
