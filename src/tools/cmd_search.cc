// shardwise search: every mesh that a number of devices can be laid out as, best first.
#include <cstdio>
#include <memory>

#include "answers/search.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct Options {
  PlanOptions plan;
  answers::SearchOptions search;
  bool json = false;
};

Status run(const Options& o) {
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

void add_search(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "search", "Plan a graph on every mesh that a number of devices can be laid out as");
  o->plan.add_to(*verb, /*with_mesh=*/false);
  verb->add_option("--devices", o->search.devices, "How many there are")->required();
  verb->add_option("--max-mesh-dims", o->search.max_mesh_dims, "Up to so many mesh dims")
      ->capture_default_str();
  verb->add_option("--best", o->search.best,
                   "Plan to the end only what can be among so many best; of the others a bound is "
                   "told; 0: all")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--each-batch", o->search.each_batch,
                 "Plan each mesh for every set of mesh dims that could cut the first dim of the "
                 "inputs, instead of once for the best of them");
  verb->add_option("--threads", o->search.threads, "At most so many; 0: as many as cores")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--json", o->json, "Print JSON for machines");
  verb->callback([o, &exit_code] {
    if (const Status status = run(*o); !status.ok()) exit_code = print_error(status);
  });
}

}  // namespace shw::tools
