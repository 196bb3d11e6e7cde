// shardwise search: plans a graph on every mesh that a number of devices can form.
#include <cstdio>
#include <memory>

#include "answers/search.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct SearchOptions {
  PlanOptions plan;
  answers::SearchOptions search;
  bool json = false;
};

Status run_search(const SearchOptions& o) {
  SHW_ASSIGN_OR_RETURN(const CompileOptions options, o.plan.options());
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.plan.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const auto candidates,
                       answers::search_meshes(graph, options, o.search, monitor));
  line.end();
  std::printf("%s", o.json ? (to_json(candidates) + "\n").c_str() : to_text(candidates).c_str());
  return {};
}

}  // namespace

void add_search(CommandLine& command_line) {
  auto o = std::make_shared<SearchOptions>();
  Verb verb = command_line.verb(
      "search", "Plan a graph on every mesh that a number of devices can form, best first");
  o->plan.add_to(verb, /*with_mesh=*/false);
  verb.option("--devices", o->search.devices, "Number of devices").required();
  verb.option("--max-mesh-dims", o->search.max_mesh_dims, "Maximum number of mesh dims")
      .shows_default();
  verb.option(
          "--best", o->search.best,
          "Find only this many best plans; other meshes are abandoned with a bound. 0: plan all")
      .not_negative();
  verb.flag("--each-batch", o->search.each_batch,
            "Plan each mesh once per set of mesh dims that can shard the batch (the first dim of "
            "the inputs), instead of once for the best set");
  verb.option("--threads", o->search.threads, "Maximum number of threads; 0: one per core")
      .not_negative();
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_search(*o); });
}

}  // namespace shw::tools
