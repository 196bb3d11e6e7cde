#include "scheduled_anew.h"

#include <gtest/gtest.h>

#include "passes/pass.h"
#include "run_plan.h"
#include "unscheduled.h"

namespace shw::testing {

std::vector<std::vector<std::byte>> results_of(const std::shared_ptr<const Plan>& plan) {
  std::vector<std::vector<std::byte>> results;
  const auto ranks = ranks_of(plan);
  if (ranks == nullptr) return results;
  std::vector<float> data(64);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>((i * 37) % 29) / 29 - 0.5f;
  const int64_t seed[2] = {7, 3};
  std::vector<runtime::HostTensorView> in;
  const ProgramEntry& entry = plan->program.entries[0];
  for (PortId id : entry.inputs) {
    const Port& port = plan->program.ports[id];
    in.push_back({port.global, port.role == PortRole::kSeed
                                   ? static_cast<const void*>(seed)
                                   : static_cast<const void*>(data.data())});
  }
  const auto out = ranks->run(entry.name, in);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (out.ok())
    for (const auto& tensor : *out) results.push_back(tensor.data);
  return results;
}

FusePrices free_copies() {
  return {[](CollectiveKind, uint32_t, int64_t) { return 1.0; }, [](int64_t) { return 0.0; }};
}

Plan unscheduled(const Plan& plan) {
  Plan other = plan;
  unschedule(other.program);
  return other;
}

std::shared_ptr<const Plan> scheduled_anew(const Plan& plan, std::optional<uint32_t> depth,
                                           uint32_t* fused) {
  Plan other = unscheduled(plan);
  Program& p = other.program;
  if (fused != nullptr)
    *fused += fuse_collectives(p, {.bytes = 1 << 20, .scatter_bytes = 1 << 20, .steps = UINT32_MAX},
                               free_copies());
  std::vector<const PassDef*> passes;
  if (depth) passes.push_back(&kScheduleCollectives);
  passes.push_back(&kPlanMemory);
  Monitor monitor;
  const auto reports = run_passes(p, passes, {.prefetch_depth = depth.value_or(0)}, monitor);
  EXPECT_TRUE(reports.ok()) << reports.status().message();
  auto read = read_plan(write_plan(other));
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? std::make_shared<const Plan>(std::move(*read)) : nullptr;
}

}  // namespace shw::testing
