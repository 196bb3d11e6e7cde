// What each recompute policy keeps from the forward to the backward pass, and what that costs, for
// a training graph with an entry `step`. A line of JSON for each policy. usage: bench_recompute
// GRAPH.swgraph MESH [PREFETCH_MIB] [POLICY…]
//   bench_recompute llama8b_L32.swgraph dp=16,tp=8 128 selective full
//
// kept_gib: scratch that forward steps write and backward steps read; each storage counts once.
// Peaks are those of halves.h.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "halves.h"
#include "import/file.h"
#include "plan/report.h"
#include "simulate/simulate.h"

namespace {

using namespace shw;
using testing::Halves;

double gib(int64_t bytes) { return static_cast<double>(bytes) / 0x1p30; }

int measure(const std::vector<uint8_t>& graph, CompileOptions options, const std::string& policy) {
  const auto parsed = recompute_policy(policy);
  if (!parsed.ok()) return std::fprintf(stderr, "%s\n", parsed.status().message().c_str()), 2;
  options.recompute = *parsed;
  Monitor monitor;
  const auto compiled = compile(graph, options, monitor);
  if (!compiled.ok()) return std::fprintf(stderr, "%s\n", compiled.status().message().c_str()), 1;
  const Program& p = compiled->plan.program;
  const Halves halves(p);
  const Simulation simulation = simulate(p, p.entries[0]);
  const Recomputation again = recomputation(p);
  double ms = 0;
  for (const PhaseTime& phase : compiled->phases) ms += 1e3 * phase.seconds;
  std::printf(
      "{\"policy\": \"%s\", \"kept_gib\": %.3f, \"forward_peak_gib\": %.3f, \"backward_peak_gib\": "
      "%.3f, \"arena_gib\": %.3f, \"arena_of_live_peak\": %.4f, \"forward_gathers\": %u, "
      "\"of_parameters\": %u, "
      "\"backward_gathers\": %u, \"of_parameters_again\": %u, \"repeated_us\": %.0f, "
      "\"simulated_us\": %.0f, \"exposed_us\": %.0f, \"plan_ms\": %.1f}\n",
      policy.c_str(), gib(again.kept_bytes), gib(halves.forward().peak_bytes),
      gib(halves.backward().peak_bytes), gib(p.arena_bytes),
      static_cast<double>(p.arena_bytes) / static_cast<double>(p.live_peak_bytes),
      halves.forward().gathers, halves.forward().gathered, halves.backward().gathers,
      halves.backward().gathered, again.us, simulation.total_us, simulation.exposed_us, ms);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s GRAPH.swgraph MESH [PREFETCH_MIB] [POLICY...]\n", argv[0]);
    return 2;
  }
  const auto graph = import::read_file(argv[1]);
  if (!graph.ok()) return std::fprintf(stderr, "%s\n", graph.status().message().c_str()), 1;
  CompileOptions options;
  options.mesh = argv[2];
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = Dtype::kF32;
  // 0: the argument is a policy, or missing
  const int64_t prefetch_mib = argc > 3 ? std::atoll(argv[3]) : 0;
  options.prefetch_bytes = prefetch_mib << 20;
  std::vector<std::string> policies(argv + (prefetch_mib != 0 ? 4 : 3), argv + argc);
  if (policies.empty()) policies = {"none", "cheap", "selective", "every:2", "full"};
  for (const std::string& policy : policies)
    if (const int failed = measure(*graph, options, policy); failed != 0) return failed;
  return 0;
}
