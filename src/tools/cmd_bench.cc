// shardwise bench: how long a plan's steps take on this machine.
#include <cstdio>
#include <memory>
#include <string>

#include "plan/plan.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/rank_backend.h"
#include "tools/commands.h"
#include "tools/plan_file.h"

namespace shw::tools {
namespace {

struct BenchOptions {
  std::string plan, device = "cpu";
  runtime::BenchOptions bench;
  bool json = false;
};

Status run_bench(BenchOptions& o) {
  SHW_ASSIGN_OR_RETURN(o.bench.backend, runtime::rank_backend(o.device));
  SHW_ASSIGN_OR_RETURN(Plan plan, read_plan_file(o.plan));
  SHW_ASSIGN_OR_RETURN(const runtime::BenchResult result,
                       runtime::bench(std::make_shared<const Plan>(std::move(plan)), o.bench));
  std::printf("%s", o.json ? (to_json(result) + "\n").c_str() : to_text(result).c_str());
  return {};
}

}  // namespace

void add_bench(CommandLine& command_line) {
  auto o = std::make_shared<BenchOptions>();
  Verb verb = command_line.verb("bench", "Time a plan's steps on virtual ranks, kernel by kernel");
  verb.option("PLAN", o->plan, "Plan file (.swplan), as written by `shardwise plan`").required();
  verb.option("--entry", o->bench.entry, "Entry point of the plan; default: the first");
  verb.option("--device", o->device, "What the ranks run on: cpu; null, which computes nothing")
      .shows_default();
  verb.option("--warm-up", o->bench.warm_up, "Runs that are not counted").shows_default();
  verb.option("--repeats", o->bench.repeats, "Runs that are").positive().shows_default();
  verb.flag("--json", o->json, "Print the result as JSON");
  verb.runs([o] { return run_bench(*o); });
}

}  // namespace shw::tools
