// Scheduling with knowledge of the groups of fused steps that will be formed later.
#include "groups/form_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "passes/lifetimes.h"
#include "passes/order_compactly.h"
#include "passes/streams.h"
#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;
const Dims kRows{128, 256}, kRowsOfRank{32, 256};
constexpr int64_t kWholeBytes = 128 * 256 * 4;

// Two pointwise steps. The second one reads a gathered value.
struct Gathered {
  Sketch s;
  Gathered() {
    const ValueId x = s.input(kRows), w = s.parameter(kRowsOfRank);
    const ValueId g = s.step("all_gather", {w}, {4, 32, 256}, 5);
    const ValueId e = s.step("exp", {x}, kRows, 10);
    ProgramValue whole = s.p.values[g];
    whole.type = row_major(Dtype::kF32, kRows);
    s.output(s.step("mul", {e, s.p.values.push_back(whole)}, kRows, 10));
  }
  int64_t most(const GroupsToCome& groups) const {
    return std::ranges::max(live_bytes(lives_of(s.p, groups), s.p.steps.size()));
  }
};

TEST(GroupsToCome, WhatTheySeeAloneTakesNoMemory) {
  Gathered g;
  const GroupsToCome groups = groups_to_come(g.s.p);
  EXPECT_EQ(groups.spans[1].first, 1u);
  EXPECT_EQ(groups.spans[1].last, 2u);
  EXPECT_EQ(live_peak_bytes(g.s.p), 2 * kWholeBytes);
  EXPECT_EQ(g.most(groups), kWholeBytes) << "what is gathered";
}

TEST(GroupsToCome, TheFirstStepWaitsForAll) {
  for (const bool as_groups : {false, true}) {
    SCOPED_TRACE(as_groups);
    Gathered g;
    number_streams(g.s.p);
    const GroupsToCome groups = groups_to_come(g.s.p);
    synchronise(g.s.p, g.s.options, {}, as_groups ? &groups : nullptr);
    EXPECT_EQ(g.s.p.steps[1].waits.size(), as_groups ? 1u : 0u);
    EXPECT_EQ(g.s.p.steps[2].waits.size(), as_groups ? 0u : 1u);
    EXPECT_EQ(g.s.run(kFuseSteps), as_groups ? 1u : 0u);
  }
}

// The first order is that of the program itself.
TEST(GroupsToCome, AScheduleInWhichTheyFreeMemoryKeepsThemWhole) {
  for (const bool frees : {true, false}) {
    SCOPED_TRACE(frees);
    Gathered g;
    g.s.options.groups_free_memory = frees;
    g.s.options.prefetch_bytes = 0;
    g.s.run(kScheduleCollectives);
    EXPECT_EQ(g.s.run(kFuseSteps), frees ? 1u : 0u);
  }
}

// A gradient is reduced right after its product, not at its position in the program.
TEST(CompactOrder, CollectivesFreeMemorySoon) {
  Sketch s;
  const ValueId x = s.input(kRows);
  const ValueId gradient = s.step("mm", {x, x}, {4, 32, 256}, 10);
  s.output(s.step("sort", {x}, kRows, 10));
  s.output(s.step("sort", {x}, kRows, 10));
  s.output(s.step("reduce_scatter", {gradient}, kRowsOfRank, 5), PortRole::kGradient);
  order_compactly(s.p);
  EXPECT_EQ(s.kernels(), (std::vector<std::string>{"mm", "reduce_scatter", "sort", "sort"}));
  EXPECT_EQ(s.p.streams.size(), 1u);
  EXPECT_EQ(s.p.num_events, 0u);
}

}  // namespace
}  // namespace shw
