// LLaMA-3 8B with 32 layers on 16x8: how close the simulated step comes to its lower bound, and how
// long compute waits for collectives (figures in passes/README.md).
#include <gtest/gtest.h>

#include <algorithm>

#include "packed.h"
#include "simulate/entry_times.h"
#include "simulate/simulate.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

Program planned_with(const char* policy) {
  CompileOptions options{.mesh = "dp=16,tp=8", .keep_graph = false};
  options.recompute = *recompute_policy(policy);
  Monitor monitor;
  auto compiled = testing::compile_packed(testing::test_graph("examples/llama8b_L32_8x8_einsum"),
                                          options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? std::move(compiled->plan.program) : Program();
}

double waits_in_backward_us(const Program& p) {
  const Simulation s = simulate(p, p.entries[0]);
  double waits_us = 0, free_us = 0;
  for (uint32_t i = 0; i < p.steps.size(); ++i) {
    if (p.steps[i].collective.kind != CollectiveKind::kNone) continue;
    if (p.steps[i].phase != 0) waits_us += s.at(i).start_us - free_us;
    free_us = s.at(i).end_us;
  }
  return waits_us;
}

// The largest number of products between two consecutive collectives that reduce over dp, the mesh
// dim along which gradients are reduced.
uint32_t most_products_between_reductions(const Program& p) {
  uint32_t most = 0, products = 0;
  for (const ProgramStep& s : p.steps) {
    if (s.phase == 0) continue;
    const bool over_dp = std::ranges::find(s.collective.axes, 0) != s.collective.axes.end();
    if (reduces(s.collective.kind) && over_dp) products = 0;
    if (s.kernel == "einsum") most = std::max(most, ++products);
  }
  return most;
}

TEST(ExposedTime, OnThe128RanksOfTheReference) {
  const Program plain = planned_with("none"), selective = planned_with("selective");
  const EntryTime t = entry_times(plain)[0], again = entry_times(selective)[0];
  EXPECT_LE(t.us, 1.14 * t.lower_bound_us);
  EXPECT_LE(again.us, 1.08 * again.lower_bound_us);
  EXPECT_LE(waits_in_backward_us(plain), 0.02 * t.us);
  EXPECT_LE(most_products_between_reductions(plain), 8u);
  EXPECT_LE(most_products_between_reductions(selective), 8u);
}

}  // namespace
}  // namespace shw
