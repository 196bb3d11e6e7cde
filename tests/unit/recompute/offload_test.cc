#include "recompute/offload.h"

#include <gtest/gtest.h>

#include "passes/pass.h"
#include "simulate/simulate.h"
#include "unit/simulate/sketch.h"

namespace shw {
namespace {

using testing::Sketch;
using Names = std::vector<std::string>;

// `layers` forward steps of 10 µs, each of which makes 100 bytes, and as many backward steps of 20
// µs, which read these values in reverse order.
struct Stack {
  Sketch s;
  std::vector<ValueId> kept;
  explicit Stack(int layers) {
    ValueId x = s.input(100);
    for (int i = 0; i < layers; ++i) {
      kept.push_back(s.value(100));
      s.step(10, {x}, {kept.back()});
      x = kept.back();
    }
    ValueId g = s.input(100);
    for (int i = layers; i-- > 0;) {
      const ValueId out = s.value(100);
      s.step(20, {g, kept[static_cast<size_t>(i)]}, {out}).phase = 1;
      g = out;
    }
    Program& p = s.p;
    ProgramStorage& last = p.storages[p.values[g].storage];
    last.kind = StorageKind::kOutput;
    last.port = static_cast<uint32_t>(p.ports.size());
    p.entries[0].outputs.push_back(
        p.ports.push_back({"output", PortRole::kResult, p.values[g].type, {}, g}));
  }
  int64_t move(double us_a_copy, int64_t limit_bytes = INT64_MAX) {
    const int64_t bytes =
        offload(s.p, {[=](int64_t n) { return n == 0 ? 0 : us_a_copy; }, limit_bytes});
    const Status sound = verify(s.p, false);
    EXPECT_TRUE(sound.ok()) << sound.message();
    return bytes;
  }
  Names kernels() const {
    Names names;
    for (const ProgramStep& step : s.p.steps) names.push_back(step.kernel);
    return names;
  }
};

const Names kFirstTwoOfFourWait = {
    "kernel", "copy_to_host", "kernel",         "copy_to_host", "kernel",         "kernel",
    "kernel", "kernel",       "copy_from_host", "kernel",       "copy_from_host", "kernel"};

TEST(Offload, TakesTheFirstValuesAsLongAsTheLinkIsDoneInTime) {
  Stack stack(4);
  // The copies end at 25, 40 and 55 µs. The forward pass ends at 40 µs, so two values fit.
  EXPECT_EQ(stack.move(15), 200);
  EXPECT_EQ(stack.kernels(), kFirstTwoOfFourWait);
  const Program& p = stack.s.p;
  const ProgramStep &to = p.steps[1], &from = p.steps[10], &reader = p.steps[11];
  EXPECT_EQ(to.inputs, std::vector<ValueId>{stack.kept[0]});
  EXPECT_EQ(from.inputs, to.outputs);
  EXPECT_EQ(reader.inputs[1], from.outputs[0]);
  EXPECT_EQ(p.steps[2].inputs[0], stack.kept[0]) << "the forward half reads what it made";
  EXPECT_EQ(to.phase, 0);
  EXPECT_EQ(from.phase, 1);
  EXPECT_EQ(from.cost_us, 15);
  EXPECT_EQ(from.basis, PriceBasis::kAnalytical);
}

TEST(Offload, KeepsWithinHostMemory) {
  Stack stack(4);
  EXPECT_EQ(stack.move(1, 3 * 256 - 1), 200) << "each takes a place of 256 bytes";
}

TEST(Offload, LeavesWhatTheLinkCannotBringBackInTime) {
  Stack stack(4);
  for (ProgramStep& step : stack.s.p.steps)
    if (step.phase == 1) step.cost_us = 5;
  // The copies to host end at 18, 28 and 38 µs. The values must be back at 55 and 47 µs. The copy
  // back of the second value would start at 39 µs, which is still in the forward pass.
  EXPECT_EQ(stack.move(8), 100);
}

TEST(Offload, LeavesWhatIsNoFasterThanAnEmptyCopy) {
  Stack stack(4);
  EXPECT_EQ(offload(stack.s.p, {[](int64_t) { return 1.0; }, INT64_MAX}), 0);
  EXPECT_EQ(offload(stack.s.p, {}), 0) << "there is no link";
}

// If the backward half reads a value through a view, the whole value is fetched.
TEST(Offload, FetchesForEveryWindow) {
  Stack stack(3);
  Program& p = stack.s.p;
  const ValueId half =
      p.values.push_back({row_major(Dtype::kI8, {50}), p.values[stack.kept[0]].storage, 50});
  p.steps[5].inputs.push_back(half);
  EXPECT_EQ(stack.move(1), 200) << "the last one is read at once";
  const ProgramStep& reader = p.steps.back();
  const ProgramValue& window = p.values[reader.inputs[2]];
  EXPECT_EQ(window.storage, p.values[reader.inputs[1]].storage);
  EXPECT_EQ(window.offset_bytes, 50);
  EXPECT_NE(window.storage, p.values[stack.kept[0]].storage);
}

TEST(Offload, OfOneHalfIsNothing) {
  Stack stack(3);
  for (ProgramStep& step : stack.s.p.steps) step.phase = 0;
  EXPECT_EQ(stack.move(1), 0);
  for (ProgramStep& step : stack.s.p.steps) step.phase = 1;
  EXPECT_EQ(stack.move(1), 0);
}

// Forward and backward as separate entries. The waiting values belong to the session.
struct StackApart : Stack {
  explicit StackApart(int layers) : Stack(layers) {
    Program& p = s.p;
    const auto half = static_cast<uint32_t>(layers);
    p.entries.push_back({.name = "backward",
                         .inputs = {p.entries[0].inputs[1]},
                         .outputs = p.entries[0].outputs,
                         .first_step = half,
                         .num_steps = half,
                         .after = {0}});
    p.entries[0].inputs.pop_back();
    p.entries[0].outputs.clear();
    p.entries[0].num_steps = half;
    for (ValueId v : kept) storage(v).kind = StorageKind::kSession;
  }
  ProgramStorage& storage(ValueId v) { return s.p.storages[s.p.values[v].storage]; }
};

TEST(OffloadApart, WaitsInTheSession) {
  StackApart stack(4);
  // The copies end at 25, 40 and 55 µs. The forward entry ends at 40 µs, and the backward entry has
  // 60 µs before it reads the first value.
  EXPECT_EQ(stack.move(15), 200);
  EXPECT_EQ(stack.kernels(), kFirstTwoOfFourWait);
  const Program& p = stack.s.p;
  EXPECT_EQ(p.entries[0].num_steps, 6u);
  EXPECT_EQ(p.entries[1].first_step, 6u);
  EXPECT_EQ(p.entries[1].num_steps, 6u);
  EXPECT_EQ(stack.storage(p.steps[1].outputs[0]).kind, StorageKind::kHostSession);
  EXPECT_EQ(p.steps[10].inputs, p.steps[1].outputs);
  EXPECT_EQ(p.steps[11].inputs[1], p.steps[10].outputs[0]);
  EXPECT_EQ(stack.storage(stack.kept[0]).kind, StorageKind::kArena) << "of its own entry alone";
  EXPECT_EQ(stack.storage(stack.kept[3]).kind, StorageKind::kSession) << "it is read at once";
}

TEST(OffloadApart, KeepsWithinHostMemoryWhichTheMemoryPassFinds) {
  StackApart stack(4);
  EXPECT_EQ(stack.move(1, 3 * 256 - 1), 200);
  static constexpr const PassDef* kPasses[] = {&kScheduleCollectives, &kPlanMemory};
  Monitor monitor;
  const auto reports = run_passes(stack.s.p, kPasses, {}, monitor);
  ASSERT_TRUE(reports.ok()) << reports.status().message();
  const Program& p = stack.s.p;
  EXPECT_EQ(p.host_session_bytes, 2 * 256);
  EXPECT_EQ(p.host_bytes, 0);
  EXPECT_EQ(p.session_bytes, 2 * 256);
  const Status sound = verify(p, true);
  EXPECT_TRUE(sound.ok()) << sound.message();
  const Simulation forward = simulate(p, p.entries[0]), backward = simulate(p, p.entries[1]);
  EXPECT_EQ(forward.live.host.back(), 200) << "the backward entry comes for it";
  EXPECT_EQ(backward.live.host.front(), 200);
  EXPECT_EQ(forward.total_us + backward.total_us, 4 * 10 + 4 * 20);
}

// If a third entry reads a value too, it cannot be fetched for one entry alone.
TEST(OffloadApart, LeavesWhatSeveralEntriesRead) {
  StackApart stack(3);
  Program& p = stack.s.p;
  p.entries.push_back({.name = "other",
                       .inputs = {},
                       .outputs = {},
                       .first_step = 6,
                       .num_steps = 1,
                       .after = {0}});
  ProgramStep step = p.steps[5];
  step.inputs = {stack.kept[0]};
  step.outputs = {stack.s.value(100)};
  p.steps.push_back(step);
  EXPECT_EQ(stack.move(1), 100);
  EXPECT_EQ(stack.storage(stack.kept[0]).kind, StorageKind::kSession);
  EXPECT_EQ(stack.storage(stack.kept[1]).kind, StorageKind::kArena);
}

// The schedule runs the copies beside compute, and the freed memory is reused.
TEST(Offload, IsHiddenByTheSchedule) {
  const auto planned = [](Program p, const PassOptions& options) {
    static constexpr const PassDef* kPasses[] = {&kScheduleCollectives, &kPlanMemory};
    Monitor monitor;
    const auto reports = run_passes(p, kPasses, options, monitor);
    EXPECT_TRUE(reports.ok()) << reports.status().message();
    return p;
  };
  Stack stack(8);
  for (ProgramStorage& storage : stack.s.p.storages) storage.bytes *= 1024;
  for (ProgramValue& value : stack.s.p.values)
    value.type = row_major(Dtype::kI8, {value.type.bytes() * 1024});
  for (Port& port : stack.s.p.ports) port.global = stack.s.p.values[port.value].type;
  const Program plain = planned(stack.s.p, {});
  stack.move(15);
  const Program moved = planned(stack.s.p, {.prefetch_bytes = 100 << 10});
  const Simulation before = simulate(plain, plain.entries[0]);
  const Simulation after = simulate(moved, moved.entries[0]);
  EXPECT_EQ(after.total_us, before.total_us);
  EXPECT_EQ(moved.streams.size(), 3u);
  EXPECT_EQ(moved.host_bytes, 4 * (100 << 10));
  EXPECT_LE(moved.arena_bytes, plain.arena_bytes - 2 * (100 << 10));
}

}  // namespace
}  // namespace shw
