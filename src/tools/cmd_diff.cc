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

void add_diff(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "diff", "Compare two plans: cost, memory, communication, and nodes with other layouts");
  verb->add_option("BEFORE", o->before, "A plan (.swplan)")->required();
  verb->add_option("AFTER", o->after, "Another plan of the same graph (nodes are matched by name)")
      ->required();
  verb->add_flag("--nodes", o->nodes, "List every node that changed");
  verb->add_flag("--json", o->json, "Print JSON");
  verb->callback([o, &exit_code] {
    if (const Status status = run(*o); !status.ok()) exit_code = print_error(status);
  });
}

}  // namespace shw::tools
