// shardwise trace: when each step of a plan would run, as a file for ui.perfetto.dev.
#include <cstdio>
#include <memory>
#include <string>

#include "answers/plan_trace.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_file.h"

namespace shw::tools {
namespace {

struct TraceOptions {
  std::string plan, output, entry;
};

Status run_trace(const TraceOptions& o) {
  SHW_ASSIGN_OR_RETURN(const Plan plan, read_plan_file(o.plan));
  SHW_ASSIGN_OR_RETURN(const std::string text, answers::plan_trace(plan, o.entry));
  SHW_RETURN_IF_ERROR(import::write_file(o.output, text));
  std::printf("written  %s, %zu bytes: open it at ui.perfetto.dev\n", o.output.c_str(),
              text.size());
  return {};
}

}  // namespace

void add_trace(CommandLine& command_line) {
  auto o = std::make_shared<TraceOptions>();
  Verb verb = command_line.verb(
      "trace", "Write when each step of a plan would run on a rank, for ui.perfetto.dev");
  verb.option("PLAN", o->plan, "A plan (.swplan)").required();
  verb.option("-o,--output", o->output, "Where to write the trace (.json)").required();
  verb.option("--entry", o->entry, "Trace this entry alone; otherwise all, one after another");
  verb.runs([o] { return run_trace(*o); });
}

}  // namespace shw::tools
