// shardwise bench: how long a plan's steps take on this machine, or its collectives.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "import/file.h"
#include "plan/plan.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/collectives.h"
#include "runtime/bench/rank_backend.h"
#include "tools/commands.h"
#include "tools/device_option.h"
#include "tools/plan_file.h"

namespace shw::tools {
namespace {

struct BenchOptions {
  std::string plan, device = "cpu", mesh, dtype = "f32", trace;
  runtime::cuda::Options cuda;
  bool of_collectives = false;
  runtime::BenchOptions bench;
  runtime::CollectiveBenchOptions collectives;
  bool json = false;
};

Status time_plan(BenchOptions& o) {
  SHW_ASSIGN_OR_RETURN(Plan plan, read_plan_file(o.plan));
  SHW_ASSIGN_OR_RETURN(o.bench.backend,
                       runtime::rank_backend(o.device, num_ranks(plan.program), o.cuda));
  SHW_ASSIGN_OR_RETURN(const runtime::BenchResult result,
                       runtime::bench(std::make_shared<const Plan>(std::move(plan)), o.bench));
  if (!o.trace.empty()) SHW_RETURN_IF_ERROR(import::write_file(o.trace, runtime::to_trace(result)));
  std::printf("%s", o.json ? (to_json(result) + "\n").c_str() : to_text(result).c_str());
  return {};
}

Status time_collectives(BenchOptions& o) {
  runtime::CollectiveBenchOptions& c = o.collectives;
  SHW_ASSIGN_OR_RETURN(c.mesh, Mesh::parse(o.mesh));
  const auto dtype = dtype_from_name(o.dtype);
  if (!dtype) return invalid_argument("--dtype '" + o.dtype + "': no such dtype");
  c.dtype = *dtype;
  c.warm_up = o.bench.warm_up;
  c.repeats = o.bench.repeats;
  SHW_ASSIGN_OR_RETURN(c.backend, runtime::rank_backend(o.device, c.mesh.num_ranks(), o.cuda));
  SHW_ASSIGN_OR_RETURN(const runtime::CollectiveBenchResult result, runtime::bench_collectives(c));
  std::printf("%s", o.json ? (to_json(result) + "\n").c_str() : to_text(result).c_str());
  if (result.wrong() > 0)
    return internal_error(std::to_string(result.wrong()) + " elements of collectives are wrong");
  return {};
}

Status run_bench(BenchOptions& o) {
  if (o.of_collectives == !o.plan.empty())
    return invalid_argument("bench takes either PLAN, or --collectives with --mesh");
  const bool whole = o.bench.whole || o.bench.graphs;
  if (o.of_collectives && (whole || !o.trace.empty()))
    return invalid_argument("--trace, --whole and --graphs are of the steps of a plan");
  if (whole && !o.trace.empty())
    return invalid_argument("--trace needs the times of launches, which --whole and --graphs lack");
  if (o.of_collectives == o.mesh.empty())
    return invalid_argument("--collectives and --mesh belong together");
  return o.of_collectives ? time_collectives(o) : time_plan(o);
}

}  // namespace

void add_bench(CommandLine& command_line) {
  auto o = std::make_shared<BenchOptions>();
  Verb verb =
      command_line.verb("bench",
                        "Time a plan's steps on ranks in this process, kernel by kernel, or "
                        "collectives between such ranks");
  verb.option("PLAN", o->plan, "Plan file (.swplan), as written by `shardwise plan`");
  verb.option("--entry", o->bench.entry, "Entry point of the plan; default: the first");
  verb.option("--device", o->device,
              "Device of the ranks: cpu; cuda (one GPU per rank); null (computes nothing)")
      .shows_default();
  add_cuda_options(verb, o->cuda);
  verb.option("--warm-up", o->bench.warm_up, "Runs before the timed ones, not counted")
      .shows_default();
  verb.option("--repeats", o->bench.repeats, "Timed runs").positive().shows_default();
  verb.option(
      "--trace", o->trace,
      "Where to write when each launch of the last run began and ended on each rank, by its "
      "device's clock (.json, for ui.perfetto.dev)");
  verb.flag("--whole", o->bench.whole,
            "Time runs as a whole, with nothing timed inside them: no table, no floor");
  verb.flag("--graphs", o->bench.graphs, "Run steps as CUDA graphs, which are timed as a whole");
  verb.flag("--json", o->json, "Print the result as JSON");
  runtime::CollectiveBenchOptions& c = o->collectives;
  const char* const heading = "Collectives";
  verb.flag("--collectives", o->of_collectives,
            "Instead of a plan, time each collective between the ranks of --mesh for a range of "
            "sizes, and check the results; output in the format of nccl-tests");
  verb.option("--mesh", o->mesh, "Mesh of the ranks, such as dp=2,tp=4").group(heading);
  verb.option("--group", c.group,
              "Comma-separated mesh dims along which ranks communicate; default: all")
      .separator(',')
      .group(heading);
  verb.option("--dtype", o->dtype, "Element type: f32, f64, f16, bf16, i32 or i64")
      .shows_default()
      .group(heading);
  verb.option("--min-bytes", c.min_bytes, "Smallest size in bytes")
      .positive()
      .shows_default()
      .group(heading);
  verb.option("--max-bytes", c.max_bytes, "Largest size in bytes")
      .positive()
      .shows_default()
      .group(heading);
  verb.option("--factor", c.factor, "Factor from one size to the next")
      .positive()
      .shows_default()
      .group(heading);
  verb.runs([o] { return run_bench(*o); });
}

}  // namespace shw::tools
