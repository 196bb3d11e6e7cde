// Which steps fuse-steps combines. unit/runtime/fusion_test.cc checks that groups give the same
// bits as single steps.
#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;

const Dims kFusedDims{128, 256};

std::vector<uint32_t> begins(const Program& p) {
  std::vector<uint32_t> steps;
  for (const FusedGroup& g : p.fused_groups) steps.push_back(g.first_step);
  return steps;
}

TEST(FuseSteps, NeighboursAreOneGroup) {
  Sketch s;
  const ValueId x = s.input(kFusedDims);
  s.output(s.step("neg", {s.step("exp", {x}, kFusedDims)}, kFusedDims));
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_EQ(s.p.fused_groups, (std::vector<FusedGroup>{{0, 2, kFusedDims, {4}}}));
  EXPECT_EQ(s.run(kFuseSteps), 0u);  // idempotent
}

TEST(FuseSteps, SmallTensorsAreNotWorthIt) {
  Sketch s;
  s.output(s.step("neg", {s.step("exp", {s.input({8, 8})}, {8, 8})}, {8, 8}));
  EXPECT_EQ(s.run(kFuseSteps), 0u);
}

// A product between two pointwise steps, neither of which depends on it.
Sketch with_a_product() {
  Sketch s;
  const ValueId x = s.input(kFusedDims), w = s.input({256, 64});
  const ValueId e = s.step("exp", {x}, kFusedDims);
  const ValueId product = s.step("mm", {e, w}, {128, 64});
  const ValueId n = s.step("neg", {e}, kFusedDims);
  s.output(product);
  s.output(n);
  return s;
}

TEST(FuseSteps, AProductMovesBehindTheGroup) {
  Sketch s = with_a_product();
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_EQ(s.kernels(), (std::vector<std::string>{"exp", "neg", "mm"}));
  EXPECT_EQ(s.p.fused_groups, (std::vector<FusedGroup>{{0, 2, kFusedDims, {4}}}));
}

TEST(FuseSteps, WhatReadsAProductEndsTheGroup) {
  Sketch s;
  const ValueId x = s.input(kFusedDims), w = s.input({256, 256});
  const ValueId product = s.step("mm", {s.step("exp", {x}, kFusedDims), w}, kFusedDims);
  s.output(s.step("neg", {s.step("abs", {product}, kFusedDims)}, kFusedDims));
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_EQ(s.kernels(), (std::vector<std::string>{"exp", "mm", "abs", "neg"}));
  EXPECT_EQ(begins(s.p), (std::vector<uint32_t>{2}));
}

TEST(FuseSteps, AProductThatWaitsForNothingMovesInFrontOfTheGroup) {
  Sketch s;
  const ValueId x = s.input(kFusedDims), w = s.input({256, 256});
  const ValueId e = s.step("exp", {x}, kFusedDims);
  const ValueId product = s.step("mm", {x, w}, kFusedDims);
  s.output(s.step("mul", {e, product}, kFusedDims));
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_EQ(s.kernels(), (std::vector<std::string>{"mm", "exp", "mul"}));
  EXPECT_EQ(begins(s.p), (std::vector<uint32_t>{1}));
}

TEST(FuseSteps, AProductStaysWhereOtherStreamsRunBeside) {
  Sketch s;
  const ValueId x = s.input(kFusedDims), w = s.input({256, 256});
  const ValueId e = s.step("exp", {x}, kFusedDims);
  const ValueId product = s.step("mm", {x, w}, kFusedDims);
  s.output(s.step("mul", {e, product}, kFusedDims));
  communication_stream(s.p, {0});
  EXPECT_EQ(s.run(kFuseSteps), 0u);
}

// The sum needs all rows, and the small step needs the sum.
TEST(FuseSteps, ASmallStepMovesBehindWithWhatItWaitsFor) {
  Sketch s;
  const ValueId x = s.input(kFusedDims);
  const ValueId e = s.step("exp", {x}, kFusedDims);
  const ValueId sum = s.step("sum", {e}, {1, 256});
  s.p.steps.back().attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  s.p.steps.back().attrs.set(AttrKey::kKeepDim, true);
  s.output(s.step("abs", {sum}, {1, 256}));
  s.output(s.step("neg", {e}, kFusedDims));
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_EQ(s.kernels(), (std::vector<std::string>{"exp", "neg", "sum", "abs"}));
  EXPECT_EQ(s.p.fused_groups, (std::vector<FusedGroup>{{0, 2, kFusedDims, {4}}}));
}

TEST(FuseSteps, AnEventOfTheLastStepStaysLast) {
  Sketch s = with_a_product();
  s.p.steps.back().records = 0;
  s.p.num_events = 1;
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_EQ(s.p.steps[2].kernel, "mm");
  EXPECT_EQ(s.p.steps[2].records, 0u);
  EXPECT_EQ(s.p.steps[1].records, kNoEvent);
}

TEST(FuseSteps, AnotherPassThatRemovesStepsDropsTheGroups) {
  Sketch s;
  const ValueId x = s.input(kFusedDims);
  const ValueId e = s.step("exp", {x}, kFusedDims);
  s.step("abs", {e}, kFusedDims);  // unused
  s.output(s.step("neg", {e}, kFusedDims));
  EXPECT_EQ(s.run(kFuseSteps), 1u);
  EXPECT_GT(s.run(kDeadSteps), 0u);
  EXPECT_EQ(s.kernels(), (std::vector<std::string>{"exp", "neg"}));
  EXPECT_TRUE(s.p.fused_groups.empty());
}

}  // namespace
}  // namespace shw
