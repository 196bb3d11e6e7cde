#include "report/memory_curves.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace shw::report {
namespace {

enum Kind : size_t {
  kParameters,
  kGradients,
  kOptimizer,
  kBuffers,
  kInputs,
  kResults,
  kSession,
  kActivations,
  kCommunication,
  kTemporaries,
  kNumKinds
};
constexpr std::array<const char*, kNumKinds> kNames = {
    "parameters",     "gradients",   "optimizer state",    "buffers",    "inputs", "results",
    "session memory", "activations", "collective results", "temporaries"};

Kind kind_of(PortRole role) {
  switch (role) {
    case PortRole::kParameter:
      return kParameters;
    case PortRole::kGradient:
      return kGradients;
    case PortRole::kOptimizerState:
      return kOptimizer;
    case PortRole::kBuffer:
    case PortRole::kConstant:
      return kBuffers;
    case PortRole::kInput:
    case PortRole::kTangent:
    case PortRole::kSeed:
      return kInputs;
    case PortRole::kResult:
    case PortRole::kUpdate:
      return kResults;
  }
  return kResults;
}

struct Use {
  uint32_t first = UINT32_MAX, last = 0;
  bool received = false;  // the first step that writes it is a collective
};

// The uses of each storage; steps of the entry count from 0.
std::vector<Use> uses_of(const Program& program, const ProgramEntry& entry) {
  std::vector<Use> uses(program.storages.size());
  const std::vector<StepSpan> spans = spans_of_steps(program);
  for (uint32_t i = 0; i < entry.num_steps; ++i) {
    const ProgramStep& step = program.steps[entry.first_step + i];
    const StepSpan span = spans[entry.first_step + i];
    const auto touch = [&](ValueId v, bool written) {
      if (!v.valid()) return;
      Use& use = uses[program.values[v].storage.v];
      if (use.first == UINT32_MAX) {
        use.first = span.first - entry.first_step;
        use.received = written && step.collective.kind != CollectiveKind::kNone;
      }
      use.last = span.last - entry.first_step;
    };
    for (ValueId v : step.inputs) touch(v, false);
    for (ValueId v : step.outputs) touch(v, true);
  }
  return uses;
}

Kind scratch_kind(const Program& program, const ProgramEntry& entry, const Use& use) {
  const auto phase = [&](uint32_t step) { return program.steps[entry.first_step + step].phase; };
  if (phase(use.first) != phase(use.last)) return kActivations;
  return use.received ? kCommunication : kTemporaries;
}

// The ports of an entry, each storage once.
std::vector<StorageId> held_storages(const Program& program, const ProgramEntry& entry) {
  std::vector<StorageId> held;
  std::vector<bool> seen(program.storages.size());
  const auto hold = [&](StorageId s) {
    if (!seen[s.v]) held.push_back(s);
    seen[s.v] = true;
  };
  for (const auto* ports : {&entry.inputs, &entry.outputs})
    for (PortId port : *ports)
      if (program.ports[port].value.valid())
        hold(program.values[program.ports[port].value].storage);
  for (uint32_t s = 0; s < program.storages.size(); ++s) {
    const StorageKind kind = program.storages[StorageId{s}].kind;
    if (kind == StorageKind::kState || kind == StorageKind::kConstant) hold(StorageId{s});
  }
  return held;
}

}  // namespace

std::vector<MemoryCurve> memory_curves(const Program& program, const ProgramEntry& entry,
                                       const LiveCurves& live) {
  std::array<std::vector<int64_t>, kNumKinds> bytes;
  for (auto& curve : bytes) curve.assign(entry.num_steps + 1, 0);
  const std::vector<Use> uses = uses_of(program, entry);
  for (uint32_t s = 0; s < uses.size(); ++s) {
    const ProgramStorage& storage = program.storages[StorageId{s}];
    if (storage.kind != StorageKind::kArena || uses[s].first > uses[s].last) continue;
    auto& curve = bytes[scratch_kind(program, entry, uses[s])];
    curve[uses[s].first] += storage.bytes;
    curve[uses[s].last + 1] -= storage.bytes;
  }
  for (StorageId s : held_storages(program, entry))
    bytes[kind_of(program.ports[PortId{program.storages[s].port}].role)][0] +=
        program.storages[s].bytes;
  std::vector<MemoryCurve> curves;
  for (size_t kind = 0; kind < kNumKinds; ++kind) {
    std::vector<int64_t>& curve = bytes[kind];
    std::partial_sum(curve.begin(), curve.end(), curve.begin());
    curve.pop_back();
    if (kind == kSession) curve = live.session;
    if (std::ranges::any_of(curve, [](int64_t b) { return b != 0; }))
      curves.push_back({kNames[kind], std::move(curve)});
  }
  return curves;
}

}  // namespace shw::report
