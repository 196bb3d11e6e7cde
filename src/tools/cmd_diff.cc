// shardwise diff: compares two plans.
#include <cstdio>
#include <memory>
#include <string>

#include "answers/plan_diff.h"
#include "import/file.h"
#include "tools/commands.h"

namespace shw::tools {
namespace {

struct Options {
  std::string before, after;
  bool json = false, nodes = false;
};

Result<Plan> load(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(path));
  auto plan = read_plan(bytes);
  if (plan.ok()) return plan;
  return Status(plan.status().code(), path + ": " + plan.status().message());
}

Status run(const Options& o) {
  SHW_ASSIGN_OR_RETURN(const Plan before, load(o.before));
  SHW_ASSIGN_OR_RETURN(const Plan after, load(o.after));
  const answers::PlanDiff diff = answers::plan_diff(before, after);
  std::printf("%s", o.json ? (to_json(diff) + "\n").c_str() : to_text(diff, o.nodes).c_str());
  return {};
}

}  // namespace

void add_diff(CommandLine& command_line) {
  auto o = std::make_shared<Options>();
  Verb verb = command_line.verb(
      "diff", "Compare two plans: cost, memory, communication, and nodes with other layouts");
  verb.option("BEFORE", o->before, "A plan (.swplan)").required();
  verb.option("AFTER", o->after, "Another plan of the same graph (nodes are matched by name)")
      .required();
  verb.flag("--nodes", o->nodes, "List every node that changed");
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run(*o); });
}

}  // namespace shw::tools
