// What each recompute policy keeps from the forward to the backward pass, and what that costs, for
// a training graph with an entry `step`. A line of JSON for each policy. usage: bench_recompute
// GRAPH.swgraph MESH [PREFETCH_MIB] [POLICY…]
//   bench_recompute llama8b_L32.swgraph dp=16,tp=8 128 selective full
//
// kept_gib: scratch that forward steps write and backward steps read, each storage once. The peaks
// of the two halves count scratch, inputs and outputs, without parameters and buffers, in the order
// of the plan; forward without tangents, backward without results. Backward begins where a step
// reads a tangent.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "import/file.h"
#include "plan/port_uses.h"
#include "plan/report.h"
#include "simulate/simulate.h"

namespace {

using namespace shw;

bool is_backward(const ProgramStep& step) { return step.phase != 0; }

// What is repeated, or made of parameters alone, may begin before forward is over.
bool begins_backward(const Program& p, const ProgramStep& step) {
  return is_backward(step) && touches(p, step.inputs, PortRole::kTangent);
}

struct Half {
  int64_t peak_bytes = 0;
  uint32_t gathers = 0, gathered = 0;  // of parameters: collectives, parameters
};

class Halves {
 public:
  explicit Halves(const Program& p) : p_(p), touched_(touched_storages(p)), of_(p.storages.size()) {
    for (uint32_t i = 0; i < p.steps.size(); ++i)
      if (first_backward_ == UINT32_MAX && begins_backward(p, p.steps[i])) first_backward_ = i;
    find_sources();
    find_peaks();
  }
  const Half& forward() const { return halves_[0]; }
  const Half& backward() const { return halves_[1]; }

 private:
  uint32_t storage(ValueId v) const { return p_.values[v].storage.v; }

  // Which one parameter a storage depends on; kMany: on something else.
  static constexpr uint32_t kNothing = UINT32_MAX, kMany = UINT32_MAX - 1;
  void find_sources() {
    std::fill(of_.begin(), of_.end(), kNothing);
    for (uint32_t s = 0; s < of_.size(); ++s) {
      const ProgramStorage& x = p_.storages[StorageId{s}];
      if (x.kind != StorageKind::kInput) continue;
      of_[s] = p_.ports[PortId{x.port}].role == PortRole::kParameter ? x.port : kMany;
    }
    std::set<uint32_t> gathered[2];
    for (const ProgramStep& step : p_.steps) {
      uint32_t from = kNothing;
      for (ValueId v : step.inputs)
        if (v.valid()) from = from == kNothing || from == of_[storage(v)] ? of_[storage(v)] : kMany;
      for (ValueId v : step.outputs)
        if (v.valid()) of_[storage(v)] = from;
      if (step.collective.kind != CollectiveKind::kAllGather || from >= kMany) continue;
      ++halves_[is_backward(step)].gathers;
      gathered[is_backward(step)].insert(from);
    }
    for (size_t h = 0; h < 2; ++h) halves_[h].gathered = static_cast<uint32_t>(gathered[h].size());
  }

  void find_peaks() {
    const auto end = static_cast<uint32_t>(p_.steps.size());
    for (size_t h = 0; h < 2; ++h) {
      const uint32_t first = h == 0 ? 0 : first_backward_, last = h == 0 ? first_backward_ : end;
      std::vector<int64_t> live(end + 2, 0);
      for (uint32_t s = 0; s < of_.size(); ++s) {
        const ProgramStorage& x = p_.storages[StorageId{s}];
        Touched t = touched_[s];
        if (t.first > t.last) continue;
        if (x.kind == StorageKind::kInput) {
          const PortRole role = p_.ports[PortId{x.port}].role;
          if (role != PortRole::kInput && (role != PortRole::kTangent || h == 0)) continue;
          t.first = 0;
          if (role == PortRole::kInput) t.last = end;
        } else if (x.kind == StorageKind::kOutput) {
          if (p_.ports[PortId{x.port}].role == PortRole::kResult && h == 1) continue;
          t.last = end;
        } else if (x.kind != StorageKind::kArena) {
          continue;
        }
        live[t.first] += x.bytes;
        live[t.last + 1] -= x.bytes;
      }
      int64_t sum = 0;
      for (uint32_t i = 0; i < last; ++i) {
        sum += live[i];
        if (i >= first) halves_[h].peak_bytes = std::max(halves_[h].peak_bytes, sum);
      }
    }
  }

  const Program& p_;
  const std::vector<Touched> touched_;
  std::vector<uint32_t> of_;
  uint32_t first_backward_ = UINT32_MAX;
  Half halves_[2];
};

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
  const int64_t prefetch_mib = argc > 3 ? std::atoll(argv[3]) : 0;  // 0: a policy, or nothing
  options.prefetch_bytes = prefetch_mib << 20;
  std::vector<std::string> policies(argv + (prefetch_mib != 0 ? 4 : 3), argv + argc);
  if (policies.empty()) policies = {"none", "cheap", "selective", "every:2", "full"};
  for (const std::string& policy : policies)
    if (const int failed = measure(*graph, options, policy); failed != 0) return failed;
  return 0;
}
