// shardwise show: prints a plan or a graph.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "graph/text.h"
#include "import/file.h"
#include "plan/module_tree.h"
#include "plan/report.h"
#include "rewrite/verify.h"
#include "simulate/entry_times.h"
#include "tools/commands.h"

namespace shw::tools {
namespace {

struct ShowOptions {
  std::string file;
  bool json = false, nodes = false, program = false, tree = false;
};

void print_nodes(const Plan& plan) {
  std::printf("%-44s %-24s %10s %10s  %s\n", "node", "op", "compute", "comm", "layouts");
  for (const NodeDecision& d : plan.summary.decisions)
    std::printf("%-44s %-24s %10.2f %10.2f  (%s) -> %s\n", d.name.c_str(), d.op.c_str(),
                d.compute_us, d.comm_us, d.operand_layouts.c_str(), d.result_layout.c_str());
}

Status show_graph(std::span<const uint8_t> bytes) {
  SHW_ASSIGN_OR_RETURN(const Graph graph, load_graph(bytes));
  std::printf("%s", print_graph(graph).c_str());
  return {};
}

Status show_plan(std::span<const uint8_t> bytes, const ShowOptions& o) {
  SHW_ASSIGN_OR_RETURN(const Plan plan, read_plan(bytes));
  if (o.tree) {
    const Module tree = module_tree(plan);
    std::printf("%s",
                o.json ? (module_tree_json(tree) + "\n").c_str() : module_tree_text(tree).c_str());
    return {};
  }
  if (o.json) {
    std::printf("%s\n",
                plan_json(plan, entry_times(plan.program), /*with_decisions=*/true).c_str());
    return {};
  }
  std::printf("%s", plan_text(plan, entry_times(plan.program)).c_str());
  if (o.nodes) print_nodes(plan);
  if (o.program) std::printf("%s", to_text(plan.program).c_str());
  return {};
}

Status run_show(const ShowOptions& o) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(o.file));
  const std::string_view identifier =
      bytes.size() < 8 ? std::string_view()
                       : std::string_view(reinterpret_cast<const char*>(bytes.data()) + 4, 4);
  return identifier == "SWGR" || is_graph_text(bytes) ? show_graph(bytes) : show_plan(bytes, o);
}

}  // namespace

void add_show(CommandLine& command_line) {
  auto o = std::make_shared<ShowOptions>();
  Verb verb = command_line.verb("show", "Print a plan as tables or JSON, or a graph as text");
  verb.option("FILE", o->file, "A plan (.swplan) or a graph (.swgraph, .swt)").required();
  verb.flag("--json", o->json, "Print JSON, with the decision for every node");
  verb.flag("--nodes", o->nodes, "Print the decision for every node");
  verb.flag("--tree", o->tree, "Print the tree of modules with costs and parameter layouts");
  verb.flag("--program", o->program, "Print every step of the per-rank program");
  verb.runs([o] { return run_show(*o); });
}

}  // namespace shw::tools
