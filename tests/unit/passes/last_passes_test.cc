// Groups of fused steps under memory limits.
#include "passes/last_passes.h"

#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;

const Dims kChainDims{128, 256};
constexpr int64_t kBytes = int64_t{128} * 256 * 4;

// Four tensors, two of which are live at a time if steps run one after another. A product reads
// each of them, so they cannot stay inside the group's slices.
Sketch chain() {
  Sketch s;
  const ValueId w = s.input({256, 8});
  ValueId v = s.input(kChainDims);
  for (int i = 0; i < 4; ++i) {
    v = s.step("exp", {v}, kChainDims);
    s.output(s.step("mm", {v, w}, {128, 8}));
  }
  return s;
}

TEST(LastPasses, GroupsAreKeptWhereNothingLimitsThem) {
  Sketch s = chain();
  Monitor monitor;
  ASSERT_TRUE(run_last_passes(s.p, INT64_MAX, Packing::kTight, s.options, monitor).ok());
  EXPECT_TRUE(verify(s.p, /*planned=*/true).ok());
  EXPECT_EQ(s.p.fused_groups.size(), 1u);
  EXPECT_EQ(s.p.arena_bytes, 4 * kBytes);  // all four are read after the group
}

TEST(LastPasses, GroupsNeverMakeAProgramExceedItsLimit) {
  for (int64_t limit = kBytes; limit <= 5 * kBytes; limit += kBytes) {
    Sketch s = chain(), apart = chain();
    apart.run(kPlanMemory);
    Monitor monitor;
    ASSERT_TRUE(run_last_passes(s.p, limit, Packing::kTight, s.options, monitor).ok());
    EXPECT_TRUE(verify(s.p, /*planned=*/true).ok());
    EXPECT_LE(scratch_bytes(s.p), std::max(limit, scratch_bytes(apart.p))) << limit;
    EXPECT_EQ(s.p.fused_groups.empty(), limit < 4 * kBytes) << limit;
  }
}

// Nothing after the group reads the values that its steps pass to each other.
Sketch closed_chain() {
  Sketch s;
  ValueId v = s.input(kChainDims);
  for (int i = 0; i < 3; ++i) v = s.step("exp", {v}, kChainDims);
  s.output(s.step("neg", {v}, kChainDims));
  return s;
}

// Where groups run as groups, this memory is never allocated.
TEST(LastPasses, MemoryOfGroupsDoesNotCountTowardsTheLimit) {
  Sketch s = closed_chain();
  Monitor monitor;
  ASSERT_TRUE(run_last_passes(s.p, kBytes, Packing::kTight, s.options, monitor).ok());
  EXPECT_TRUE(verify(s.p, /*planned=*/true).ok());
  EXPECT_EQ(s.p.fused_groups.size(), 1u);
  EXPECT_EQ(s.p.group_bytes, 2 * kBytes);
  EXPECT_EQ(scratch_bytes(s.p), 0);
}

TEST(LastPasses, WhatOnlyAGroupSeesTakesNoPlaceInTheArena) {
  Sketch s = closed_chain();
  Monitor monitor;
  ASSERT_TRUE(run_last_passes(s.p, INT64_MAX, Packing::kTight, s.options, monitor).ok());
  EXPECT_TRUE(verify(s.p, /*planned=*/true).ok());
  EXPECT_EQ(s.p.arena_bytes, 0);
  EXPECT_EQ(s.p.live_peak_bytes, 0);
  EXPECT_EQ(s.p.group_bytes, 2 * kBytes);  // if steps run one after another
}

TEST(LastPasses, AnArenaIsPackedForLongWhereThereIsTime) {
  Sketch s = chain();
  Monitor monitor;
  ASSERT_TRUE(run_last_passes(s.p, INT64_MAX, Packing::kTight, s.options, monitor).ok());
  EXPECT_TRUE(verify(s.p, /*planned=*/true).ok());
  const int64_t bytes = s.p.arena_bytes;
  s.p.arena_bytes += bytes;
  Monitor timed = improving_until(Deadline::in(1e-9), monitor);
  ASSERT_TRUE(pack_for_long(s.p, timed).ok());
  EXPECT_EQ(s.p.arena_bytes, 2 * bytes);
  ASSERT_TRUE(pack_for_long(s.p, monitor).ok());
  EXPECT_TRUE(verify(s.p, /*planned=*/true).ok());
  EXPECT_EQ(s.p.arena_bytes, bytes);
}

}  // namespace
}  // namespace shw
