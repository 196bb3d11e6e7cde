// How long a step of a plan takes as a whole, with nothing timed inside it: `shardwise bench` puts
// two events around each launch, which costs a GPU a little time, and captures no graphs. usage:
// bench_step PLAN.swplan cpu|cuda [RUNS=20] [graphs]
//   bench_step llama1b.swplan cuda 20 graphs
// SHW_KERNEL_CACHE names a folder where compiled kernels are kept.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "import/file.h"
#include "plan/plan.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/rank_backend.h"

namespace {

shw::Status time_steps(int argc, char** argv) {
  SHW_ASSIGN_OR_RETURN(const auto bytes, shw::import::read_file(argv[1]));
  SHW_ASSIGN_OR_RETURN(shw::Plan plan, shw::read_plan(bytes));
  shw::runtime::BenchOptions options;
  options.time_launches = false;
  options.warm_up = 3;
  options.repeats = argc > 3 ? std::max(1, std::atoi(argv[3])) : 20;
  options.executor.graphs = argc > 4 && std::string_view(argv[4]) == "graphs";
  const char* const cache = std::getenv("SHW_KERNEL_CACHE");
  SHW_ASSIGN_OR_RETURN(
      options.backend,
      shw::runtime::rank_backend(argv[2], shw::num_ranks(plan.program),
                                 {.kernel_cache = cache == nullptr ? "" : cache,
                                  .deterministic = std::getenv("SHW_DETERMINISTIC") != nullptr}));
  const bool graphs = options.executor.graphs;
  SHW_ASSIGN_OR_RETURN(
      const shw::runtime::BenchResult result,
      shw::runtime::bench(std::make_shared<const shw::Plan>(std::move(plan)), options));
  std::printf(
      "{\"entry\": \"%s\", \"device\": \"%s\", \"graphs\": %s, \"runs\": %lld, \"ms\": %.3f, "
      "\"quartiles_ms\": [%.3f, %.3f]}\n",
      result.entry.c_str(), result.model.c_str(), graphs ? "true" : "false",
      static_cast<long long>(result.repeats), result.seconds.median * 1e3, result.seconds.low * 1e3,
      result.seconds.high * 1e3);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s PLAN.swplan cpu|cuda [RUNS] [graphs]\n", argv[0]);
    return 2;
  }
  const shw::Status status = time_steps(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
