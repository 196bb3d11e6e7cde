// What the last step of a group writes lies where the group has read something for the last time.
#include "plan/take_over.h"

#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;

const Dims kDims{128, 256};

// A product, a group of two pointwise steps that reads its result, and a product that reads theirs.
struct Example {
  Sketch s;
  ValueId weight = s.input({256, 256}), other = s.input(kDims);
  ValueId made = s.step("mm", {s.input(kDims), weight}, kDims), result;

  void group(ValueId first, ValueId second) {
    result = s.step("mul", {s.step("exp", {first}, kDims), second}, kDims);
    s.output(s.step("mm", {result, weight}, kDims));
  }
  bool in_one_place() {
    s.run(kFuseSteps);
    s.run(kPlanMemory);
    EXPECT_EQ(s.p.fused_groups.size(), 1u);
    return place_of(made) == place_of(result);
  }
  int64_t place_of(ValueId v) const { return s.p.storages[s.p.values[v].storage].offset_bytes; }
};

TEST(TakeOver, ThePlaceOfWhatIsReadForTheLastTime) {
  Example e;
  e.group(e.made, e.other);
  EXPECT_TRUE(e.in_one_place());
  EXPECT_EQ(take_overs(e.s.p).size(), 1u);
  EXPECT_EQ(e.s.p.arena_bytes, int64_t{128} * 256 * 4);
  EXPECT_EQ(e.s.p.live_peak_bytes, e.s.p.arena_bytes);
}

TEST(TakeOver, AgainByTheNextGroup) {
  Sketch s;
  const ValueId weight = s.input({256, 8}), other = s.input(kDims);
  ValueId v = s.step("mm", {s.input(kDims), s.input({256, 256})}, kDims);
  for (int i = 0; i < 3; ++i) {
    v = s.step("mul", {s.step("exp", {v}, kDims), other}, kDims);
    const ValueId rows = s.step("sum", {v}, {1, 256});  // needs all slices: it ends the group
    s.p.steps.back().attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
    s.p.steps.back().attrs.set(AttrKey::kKeepDim, true);
    v = s.step("sub", {v, rows}, kDims);
  }
  s.output(s.step("mm", {v, weight}, {128, 8}));
  s.run(kFuseSteps);
  s.run(kPlanMemory);
  EXPECT_GE(take_overs(s.p).size(), 2u) << to_text(s.p);
}

TEST(TakeOver, NotOfWhatTheSameStepReads) {
  Example e;  // a kernel may read a slice again after it has written some of it
  e.group(e.other, e.made);
  EXPECT_FALSE(e.in_one_place());
}

TEST(TakeOver, NotOfWhatIsReadLater) {
  Example e;
  e.group(e.made, e.other);
  e.s.output(e.s.step("mm", {e.made, e.weight}, kDims));
  EXPECT_FALSE(e.in_one_place());
}

TEST(TakeOver, NotOfWhatIsReadInOtherSlices) {
  Example e;
  const TensorType turned{kDims, {1, 128}, Dtype::kF32};  // columns of what lies there as rows
  const ValueId view = e.s.p.values.push_back({turned, e.s.p.values[e.made].storage, 0});
  e.group(view, e.other);
  EXPECT_FALSE(e.in_one_place());
}

// The gather may still read it when the group writes.
TEST(TakeOver, NotOfWhatAnotherStreamTouches) {
  for (const bool gathered : {false, true}) {
    Example e;
    e.s.p.streams.push_back({StreamKind::kCommunication, {0}});
    e.s.p.num_events = 2;
    e.s.p.steps[0].records = 0;
    const ValueId all = e.s.step("all_gather", {gathered ? e.made : e.other}, {4, 128, 256});
    e.s.p.steps[1].stream = 1;
    e.s.p.steps[1].waits = {0};
    e.s.p.steps[1].records = 1;
    e.group(e.made, e.other);
    e.s.output(e.s.step("neg", {all}, {4, 128, 256}));
    e.s.p.steps.back().waits = {1};
    EXPECT_EQ(e.in_one_place(), !gathered);
  }
}

}  // namespace
}  // namespace shw
