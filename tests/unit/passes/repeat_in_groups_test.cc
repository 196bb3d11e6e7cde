// What groups recompute instead of reading it. unit/runtime/fusion_test.cc and unit/e2e check that
// this gives the same bits.
#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;
using Names = std::vector<std::string>;

const Dims kRepeatedDims{128, 256};

// exp and neg, and then a product of the absolute value of neg's result. The tests add steps that
// read the results of neg and of the product.
struct TwoGroups {
  Sketch s;
  ValueId x, e, n, product;
  TwoGroups() {
    const ValueId w = s.input({256, 256});
    x = s.step("mm", {s.input(kRepeatedDims), w}, kRepeatedDims);
    e = s.step("exp", {x}, kRepeatedDims);
    n = s.step("neg", {e}, kRepeatedDims);
    product = s.step("mm", {s.step("abs", {n}, kRepeatedDims), w}, kRepeatedDims);
  }
};

StorageKind kind_of(const Program& p, const ProgramStep& step) {
  return p.storages[p.values[step.outputs[0]].storage].kind;
}

TEST(RepeatInGroups, AGroupComputesAgainWhatItCanFromWhatIsKept) {
  TwoGroups t;
  Sketch& s = t.s;
  s.output(s.step("exp", {s.step("add", {t.n, t.product}, kRepeatedDims)}, kRepeatedDims));
  ASSERT_EQ(s.run(kFuseSteps), 2u);
  EXPECT_EQ(s.run(kRepeatInGroups), 1u);
  EXPECT_EQ(s.kernels(), (Names{"mm", "exp", "neg", "abs", "mm", "exp", "neg", "add", "exp"}));
  for (const size_t alone : {1, 2, 5, 6, 7})
    EXPECT_EQ(kind_of(s.p, s.p.steps[alone]), StorageKind::kGroup) << alone;
  EXPECT_EQ(s.p.steps[5].inputs, s.p.steps[1].inputs);
  EXPECT_EQ(s.p.fused_groups,
            (std::vector<FusedGroup>{{1, 3, kRepeatedDims, {4}}, {5, 4, kRepeatedDims, {4}}}));
  EXPECT_EQ(s.run(kRepeatInGroups), 0u);  // idempotent
}

TEST(RepeatInGroups, WhatTakesAsManyBytesIsRead) {
  TwoGroups t;  // a product reads neg's result, so it is written anyway
  Sketch& s = t.s;
  const ValueId again = s.step("mm", {t.n, t.product}, kRepeatedDims);
  s.output(s.step("exp", {s.step("add", {t.n, again}, kRepeatedDims)}, kRepeatedDims));
  ASSERT_EQ(s.run(kFuseSteps), 2u);
  EXPECT_EQ(s.run(kRepeatInGroups), 0u);
}

// The group reads the result of the reduction from memory.
TEST(RepeatInGroups, AReductionIsNotRepeated) {
  Sketch s;
  const ValueId w = s.input({256, 256});
  const ValueId x = s.step("mm", {s.input(kRepeatedDims), w}, kRepeatedDims);
  const ValueId sum = s.step("sum", {s.step("exp", {x}, kRepeatedDims)}, {128, 1});
  s.p.steps.back().attrs.set(AttrKey::kDims, std::vector<int64_t>{1});
  s.p.steps.back().attrs.set(AttrKey::kKeepDim, true);
  const ValueId scaled = s.step("mul", {x, sum}, kRepeatedDims);
  const ValueId product = s.step("mm", {s.step("neg", {scaled}, kRepeatedDims), w}, kRepeatedDims);
  s.output(s.step("exp", {s.step("where", {scaled, product, sum}, kRepeatedDims)}, kRepeatedDims));
  ASSERT_EQ(s.run(kFuseSteps), 2u);
  EXPECT_EQ(s.run(kRepeatInGroups), 1u);
  EXPECT_EQ(s.kernels(), (Names{"mm", "exp", "sum", "mul", "neg", "mm", "mul", "where", "exp"}));
  EXPECT_EQ(kind_of(s.p, s.p.steps[2]), StorageKind::kArena);
  EXPECT_EQ(s.p.steps[6].inputs, s.p.steps[3].inputs);
}

// exp, its sums over rows, and their quotient, both before and after a product.
struct TwoSoftmaxes {
  Sketch s;
  explicit TwoSoftmaxes(const Dims& shape) {
    const ValueId w = s.input({shape[1], shape[1]});
    const ValueId x = s.step("mm", {s.input(shape), w}, shape);
    const ValueId e = s.step("exp", {x}, shape), sum = s.step("sum", {e}, {shape[0], 1});
    s.p.steps.back().attrs.set(AttrKey::kDims, std::vector<int64_t>{1});
    s.p.steps.back().attrs.set(AttrKey::kKeepDim, true);
    const ValueId d = s.step("div", {e, sum}, shape);
    const ValueId product = s.step("mm", {s.step("neg", {d}, shape), w}, shape);
    s.output(s.step("exp", {s.step("add", {d, product}, shape)}, shape));
    EXPECT_EQ(s.run(kFuseSteps), 2u);
  }
};

TEST(RepeatInGroups, OneNumberARowIsWrittenForIt) {
  TwoSoftmaxes t(kRepeatedDims);
  Sketch& s = t.s;
  ASSERT_EQ(kind_of(s.p, s.p.steps[2]), StorageKind::kGroup);
  EXPECT_EQ(s.run(kRepeatInGroups), 1u);
  EXPECT_EQ(s.kernels(),
            (Names{"mm", "exp", "sum", "div", "neg", "mm", "exp", "div", "add", "exp"}));
  EXPECT_EQ(kind_of(s.p, s.p.steps[2]), StorageKind::kArena);
  EXPECT_EQ(kind_of(s.p, s.p.steps[3]), StorageKind::kGroup);
  EXPECT_EQ(s.p.steps[7].inputs[1], s.p.steps[3].inputs[1]);
  EXPECT_EQ(s.run(kRepeatInGroups), 0u);
}

TEST(RepeatInGroups, NotIfItTakesMoreThanASmallShare) {
  TwoSoftmaxes t({512, 64});
  EXPECT_EQ(t.s.run(kRepeatInGroups), 0u);
  EXPECT_EQ(kind_of(t.s.p, t.s.p.steps[2]), StorageKind::kGroup);
}

// A one-hot row can be computed from its index.
TEST(RepeatInGroups, AScatterIsRepeatedFromItsIndex) {
  Sketch s;
  const ValueId w = s.input({256, 256}), index = s.input({128, 1});
  s.p.values[index].type.dtype = Dtype::kI32;
  s.p.ports[PortId{1}].global.dtype = Dtype::kI32;
  const ValueId zeros = s.step("full", {}, kRepeatedDims);
  const ValueId hot = s.step("scatter", {zeros, index}, kRepeatedDims);
  s.p.steps.back().attrs.set(AttrKey::kDim, int64_t{1});
  s.p.steps.back().attrs.set(AttrKey::kSrc, 1.0);
  const ValueId product = s.step("mm", {s.step("neg", {hot}, kRepeatedDims), w}, kRepeatedDims);
  s.output(s.step("exp", {s.step("add", {hot, product}, kRepeatedDims)}, kRepeatedDims));
  ASSERT_EQ(s.run(kFuseSteps), 2u);
  EXPECT_EQ(s.run(kRepeatInGroups), 1u);
  EXPECT_EQ(s.kernels(), (Names{"full", "scatter", "neg", "mm", "full", "scatter", "add", "exp"}));
  EXPECT_EQ(kind_of(s.p, s.p.steps[1]), StorageKind::kGroup);
}

TEST(RepeatInGroups, AnOperandThatIsOverwrittenIsNotReadLater) {
  Sketch s;
  const ValueId w = s.input({256, 256});
  const ValueId state = s.input(kRepeatedDims), x = s.input(kRepeatedDims);
  const ValueId e = s.step("exp", {state}, kRepeatedDims);
  const ValueId product = s.step("mm", {s.step("neg", {e}, kRepeatedDims), w}, kRepeatedDims);
  s.step("add", {state, x}, kRepeatedDims);
  s.p.steps.back().outputs = {state};
  s.p.steps.back().in_place = 0;
  s.output(s.step("exp", {s.step("add", {e, product}, kRepeatedDims)}, kRepeatedDims));
  s.p.ports.push_back({"update", PortRole::kUpdate, s.p.values[state].type, Layout{}, state});
  s.p.entries[0].outputs.push_back(PortId{static_cast<uint32_t>(s.p.ports.size() - 1)});
  s.run(kFuseSteps);
  EXPECT_EQ(s.run(kRepeatInGroups), 0u);
}

TEST(RepeatInGroups, NothingMovesInProgramsWithCollectives) {
  TwoGroups t;
  Sketch& s = t.s;
  const ValueId all = s.step("all_gather", {s.input({8})}, {4, 8});
  s.output(all);
  s.output(s.step("exp", {s.step("add", {t.n, t.product}, kRepeatedDims)}, kRepeatedDims));
  ASSERT_EQ(s.run(kFuseSteps), 2u);
  EXPECT_EQ(s.run(kRepeatInGroups), 0u);
}

TEST(RepeatInGroups, TheFirstStepOfTheGroupWaits) {
  TwoGroups t;
  Sketch& s = t.s;
  s.p.steps[0].records = 0;
  s.p.num_events = 1;
  s.output(s.step("exp", {s.step("add", {t.n, t.product}, kRepeatedDims)}, kRepeatedDims));
  s.p.steps[5].waits = {0};
  s.run(kFuseSteps);
  s.run(kRepeatInGroups);
  for (const ProgramStep& step : s.p.steps)
    EXPECT_EQ(step.waits.empty(), &step != &s.p.steps[s.p.fused_groups.back().first_step]);
}

}  // namespace
}  // namespace shw
