// shardwise diff: compares two plans.
#include <cstdio>
#include <memory>
#include <string>

#include "answers/plan_diff.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_file.h"

namespace shw::tools {
namespace {

struct DiffOptions {
  std::string before, after;
  bool json = false, nodes = false;
};

Status run_diff(const DiffOptions& o) {
  SHW_ASSIGN_OR_RETURN(const Plan before, read_plan_file(o.before));
  SHW_ASSIGN_OR_RETURN(const Plan after, read_plan_file(o.after));
  const answers::PlanDiff diff = answers::plan_diff(before, after);
  std::printf("%s", o.json ? (to_json(diff) + "\n").c_str() : to_text(diff, o.nodes).c_str());
  return {};
}

}  // namespace

void add_diff(CommandLine& command_line) {
  auto o = std::make_shared<DiffOptions>();
  Verb verb = command_line.verb(
      "diff", "Compare two plans: cost, memory, communication, and nodes with other layouts");
  verb.option("BEFORE", o->before, "A plan (.swplan)").required();
  verb.option("AFTER", o->after, "Another plan of the same graph (nodes are matched by name)")
      .required();
  verb.flag("--nodes", o->nodes, "List every node that changed");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_diff(*o); });
}

}  // namespace shw::tools
