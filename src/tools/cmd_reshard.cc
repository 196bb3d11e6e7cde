// shardwise reshard: one change of layout, without a graph.
#include <cstdio>
#include <memory>
#include <string>

#include "compiler/reshard.h"
#include "import/file.h"
#include "plan/steps.h"
#include "tools/commands.h"
#include "tools/hardware_option.h"

namespace shw::tools {
namespace {

struct ReshardOptions {
  std::string type, from, to, mesh, hardware = "h100", output;
  bool json = false;
};

Status run_reshard(const ReshardOptions& o) {
  CompileOptions c;
  c.mesh = o.mesh;
  SHW_ASSIGN_OR_RETURN(c.hardware, hardware_text(o.hardware));
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const Compiled compiled, compile_reshard(o.type, o.from, o.to, c, monitor));
  if (!o.output.empty()) SHW_RETURN_IF_ERROR(import::write_file(o.output, compiled.bytes));
  const Program& program = compiled.plan.program;
  std::printf("%s", o.json ? (steps_json(program) + "\n").c_str() : steps_text(program).c_str());
  return {};
}

}  // namespace

void add_reshard(CommandLine& command_line) {
  auto o = std::make_shared<ReshardOptions>();
  Verb verb = command_line.verb(
      "reshard",
      "Find the cheapest way from one layout of a tensor to another: steps, bytes, time");
  verb.option("TYPE", o->type, "Type of the whole tensor: f32[8192,8192]").required();
  verb.option("FROM", o->from, "Layout before: S(0)S(1)").required();
  verb.option("TO", o->to, "Layout after: S(1)S(0)").required();
  verb.option("--mesh", o->mesh, "Mesh dims, outermost first: x=8,y=8").required();
  verb.option("--hardware", o->hardware, kHardwareHelp).shows_default();
  verb.option("-o,--output", o->output, "Plan file to write: it can be shown and run");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_reshard(*o); });
}

}  // namespace shw::tools
