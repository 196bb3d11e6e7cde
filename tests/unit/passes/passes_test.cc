#include "passes/pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "passes/gather_chains.h"
#include "passes/lifetimes.h"
#include "passes/schedule_fused.h"
#include "simulate/simulate.h"
#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;
using Names = std::vector<std::string>;

TEST(CommonSubexpressions, MergesChainsOfEqualSteps) {
  Sketch s;
  const ValueId x = s.input({16});
  const ValueId a = s.step("neg", {s.step("exp", {x}, {16})}, {16});
  const ValueId b = s.step("neg", {s.step("exp", {x}, {16})}, {16});
  s.output(s.step("add", {a, b}, {16}));
  EXPECT_EQ(s.run(kCommonSubexpressions), 2u);
  EXPECT_EQ(s.kernels(), (Names{"exp", "neg", "add"}));
  EXPECT_EQ(s.p.values[s.p.steps[2].inputs[0]].storage, s.p.values[s.p.steps[2].inputs[1]].storage);
}

TEST(CommonSubexpressions, KeepsWhatDiffers) {
  Sketch s;
  const ValueId x = s.input({16}), y = s.input({16});
  s.output(s.step("add", {x, y}, {16}));
  s.output(s.step("add", {x, y}, {16}));  // a separate output
  const ValueId a = s.step("pow", {x}, {16}), b = s.step("pow", {x}, {16});
  s.p.steps.back().attrs.set(AttrKey::kExponent, 2.0);
  const ValueId c = s.step("add", {y, x}, {16});  // other order of operands
  s.output(s.step("stack", {a, b, c}, {48}));
  EXPECT_EQ(s.run(kCommonSubexpressions), 0u);
}

TEST(CommonSubexpressions, MergesCollectives) {
  Sketch s;
  const ValueId x = s.input({16});
  s.output(s.step("add", {s.step("all_gather", {x}, {4, 16}), s.step("all_gather", {x}, {4, 16})},
                  {4, 16}));
  EXPECT_EQ(s.run(kCommonSubexpressions), 1u);
}

TEST(DeadSteps, RemovesChainsThatNoOutputNeeds) {
  Sketch s;
  const ValueId x = s.input({16});
  const ValueId a = s.step("exp", {x}, {16});
  s.step("neg", {s.step("all_gather", {a}, {4, 16})}, {4, 16});
  s.output(s.step("relu", {a}, {16}));
  EXPECT_GT(s.run(kDeadSteps), 0u);
  EXPECT_EQ(s.kernels(), (Names{"exp", "relu"}));
  EXPECT_EQ(s.p.values.size(), 3u);
  EXPECT_EQ(s.p.storages.size(), 3u);
  EXPECT_EQ(s.run(kDeadSteps), 0u);
}

// Eight compute steps of 10 µs each. The sixth reads a gathered weight.
Sketch with_gather(double gather_us, bool operand_late) {
  Sketch s;
  const ValueId w = s.input({16});
  ValueId x = s.input({64});
  ValueId operand = w;
  for (int i = 0; i < 8; ++i) {
    if (operand_late && i == 5) operand = x;
    if (i == 5)
      x = s.step("add",
                 {x, s.step("all_gather", {operand}, {4, operand == w ? 16 : 64}, gather_us)}, {64},
                 10);
    else
      x = s.step("relu", {x}, {64}, 10);
  }
  s.output(x);
  return s;
}

TEST(ScheduleCollectives, StartsAGatherJustEarlyEnough) {
  Sketch s = with_gather(25, false);
  EXPECT_GT(s.run(kScheduleCollectives), 0u);
  // The gather must start 25 µs before its use at 50 µs. The last step that begins no later than
  // that is the third, at 20 µs.
  EXPECT_EQ(s.kernels(),
            (Names{"relu", "relu", "all_gather", "relu", "relu", "relu", "add", "relu", "relu"}));
  const ProgramStep& gather = s.p.steps[2];
  EXPECT_EQ(gather.stream, 1);
  EXPECT_EQ(gather.waits, std::vector<uint32_t>{s.p.steps[1].records}) << "or it starts too early";
  EXPECT_EQ(s.p.steps[6].waits, std::vector<uint32_t>{gather.records});
  EXPECT_EQ(s.p.num_events, 2u);
  EXPECT_EQ(s.run(kScheduleCollectives), 0u);
}

TEST(ScheduleCollectives, LeavesInLineWhatTheSameCoresDo) {
  Sketch s = with_gather(25, false);
  const Names before = s.kernels();
  s.options.overlaps = false;
  EXPECT_EQ(s.run(kScheduleCollectives), 0u);
  EXPECT_EQ(s.kernels(), before);
  EXPECT_EQ(s.p.streams.size(), 1u);
}

TEST(ScheduleCollectives, WaitsForTheOperand) {
  Sketch s = with_gather(25, true);
  s.run(kScheduleCollectives);
  EXPECT_EQ(s.kernels()[5], "all_gather");
}

// Four gathered weights on one communicator, each with a cast that makes the gather's operand.
Sketch with_queue() {
  Sketch s;
  ValueId x = s.input({64});
  for (int i = 0; i < 12; ++i) {
    if (i < 8) {
      x = s.step("relu", {x}, {64}, 10);
      continue;
    }
    const ValueId cast = s.step("convert_element_type", {s.parameter({16})}, {16}, 0.5);
    x = s.step("add", {x, s.step("all_gather", {cast}, {4, 16}, 20)}, {64}, 10);
  }
  s.output(x);
  return s;
}
double simulated_us(const Sketch& s) { return simulate(s.p, s.p.entries[0]).total_us; }

// The last reader begins at 110 µs and the gathers take 80 µs, so the first gather starts at 30 µs
// or earlier.
TEST(ScheduleCollectives, StartsEarlyWhatQueuesOnOneCommunicator) {
  Sketch s = with_queue();
  s.run(kScheduleCollectives);
  EXPECT_EQ(simulated_us(s), 12 * 10 + 4 * 0.5);
  EXPECT_EQ(s.run(kScheduleCollectives), 0u);
}

TEST(ScheduleCollectives, StartsNoEarlierThanItsBoundsAllow) {
  Sketch deep = with_queue(), near = with_queue(), tight = with_queue(), at_use = with_queue();
  deep.run(kScheduleCollectives);
  near.options.prefetch_depth = 2;
  near.run(kScheduleCollectives);
  tight.options.prefetch_bytes = 1024;
  tight.run(kScheduleCollectives);
  at_use.options.prefetch_bytes = 0;
  at_use.run(kScheduleCollectives);
  for (Sketch* s : {&deep, &near, &tight, &at_use}) s->run(kPlanMemory);
  const auto gap = [](const Sketch& s) {  // compute steps between the first gather and its reader
    const Names names = s.kernels();
    const auto gather = std::ranges::find(names, "all_gather"),
               add = std::ranges::find(names, "add");
    return std::count(gather, add, "relu");
  };
  EXPECT_GT(gap(deep), 2);
  EXPECT_LE(gap(near), 2);
  EXPECT_LT(simulated_us(deep), simulated_us(near));
  EXPECT_LT(simulated_us(tight), simulated_us(at_use));
  EXPECT_LE(tight.p.live_peak_bytes, at_use.p.live_peak_bytes + 1024);
  EXPECT_LE(at_use.p.live_peak_bytes, deep.p.live_peak_bytes);
}

TEST(ScheduleCollectives, StartsAtOnceWhatMakesTensorsSmaller) {
  Sketch s;
  ValueId x = s.input({64});
  const ValueId g = s.step("relu", {x}, {4, 16}, 10);
  for (int i = 0; i < 4; ++i) x = s.step("relu", {x}, {64}, 10);
  s.output(x);
  s.output(s.step("reduce_scatter", {g}, {16}, 5));
  s.run(kScheduleCollectives);
  EXPECT_EQ(s.kernels()[1], "reduce_scatter");
}

// The operand is held until another step reads it, whenever the collective starts. An early result
// would be held in addition to it.
TEST(ScheduleCollectives, WhereMemoryIsShortStartsWhatMakesTensorsSmallerOnlyWhereThatFreesMemory) {
  const auto with_limit = [](int64_t bytes) {
    Sketch s;
    s.options.arena_limit_bytes = bytes;
    ValueId x = s.input({64});
    const ValueId g = s.step("relu", {x}, {4, 16}, 10);
    for (int i = 0; i < 4; ++i) x = s.step("relu", {x}, {4, 16}, 10);
    const ValueId y = s.step("mul", {x, g}, {4, 16}, 10);
    const ValueId r = s.step("reduce_scatter", {g}, {16}, 40);
    s.output(s.step("add", {r, s.step("mean", {y}, {16}, 10)}, {16}, 10));
    s.run(kScheduleCollectives);
    s.run(kPlanMemory);
    return s;
  };
  const Sketch free = with_limit(INT64_MAX), tight = with_limit(0);
  EXPECT_EQ(free.kernels()[1], "reduce_scatter");
  EXPECT_EQ(tight.kernels(), (Names{"relu", "relu", "relu", "relu", "relu", "mul", "reduce_scatter",
                                    "mean", "add"}));
  EXPECT_EQ(tight.p.live_peak_bytes, 3 * 256);
  EXPECT_GT(free.p.live_peak_bytes, 3 * 256);
}

// Scheduled within a memory limit. The gather would end in time if it started beside the step whose
// result the reduction sends.
Sketch gather_beside_reduction(int64_t limit, double us) {
  Sketch s;
  s.options.arena_limit_bytes = limit;
  const ValueId x = s.step("relu", {s.input({64})}, {64}, 10);
  const ValueId g = s.step("relu", {x}, {4, 16}, 10);
  const ValueId r = s.step("reduce_scatter", {g}, {16}, us);
  const ValueId whole = s.step("all_gather", {s.input({16})}, {4, 16}, us);
  const ValueId y = s.step("mean", {whole}, {16}, 10);
  s.output(s.step("add", {s.step("mean", {x}, {16}, 10), y}, {16}, 10));
  s.output(r);
  s.run(kScheduleCollectives);
  return s;
}

// If nothing may start early, the gather comes after the reduction, which may free memory.
TEST(ScheduleCollectives, WhereNothingMayStartEarlyAGatherStandsBehindWhatFreesMemory) {
  for (const double us : {4.0, 20.0}) {
    SCOPED_TRACE(us);
    const Names names = gather_beside_reduction(0, us).kernels();
    EXPECT_LT(std::ranges::find(names, "reduce_scatter"), std::ranges::find(names, "all_gather"));
  }
}

// The order that holds the least memory is always among the orders that are tried, whatever else a
// limit permits.
TEST(ScheduleCollectives, WithinALimitHoldsNoMoreThanWhereNothingMayStartEarly) {
  for (const double us : {4.0, 20.0}) {
    SCOPED_TRACE(us);
    const int64_t least = live_peak_bytes(gather_beside_reduction(0, us).p);
    for (const int64_t limit : {least, least + 64, least + 128})
      EXPECT_LE(live_peak_bytes(gather_beside_reduction(limit, us).p), limit);
  }
}

// Two collectives read one tensor. The first one is needed later than the second, so the second
// must not wait for it.
TEST(ScheduleCollectives, DoesNotWaitForACollectiveThatIsNeededLaterToFreeWhatBothRead) {
  Sketch s;
  const ValueId x = s.input({64}), g = s.step("relu", {x}, {4, 16}, 10);
  const ValueId late = s.step("reduce_scatter", {g}, {16}, 5);
  const ValueId soon = s.step("reduce_scatter", {g}, {16}, 6);
  ValueId y = s.step("relu", {soon}, {16}, 10);
  for (int i = 0; i < 3; ++i) y = s.step("relu", {y}, {16}, 10);
  s.output(s.step("add", {y, late}, {16}, 10));
  s.options.arena_limit_bytes = 0;
  s.run(kScheduleCollectives);
  EXPECT_EQ(s.p.steps[1].cost_us, 6);
}

// The cast of a reduced gradient is needed only at the end: no compute step may wait for it.
TEST(ScheduleCollectives, DoesWhatFollowsAReductionWhenThatIsOver) {
  Sketch s;
  ValueId x = s.input({64});
  for (int i = 0; i < 6; ++i) {
    x = s.step("relu", {x}, {4, 16}, 10);
    if (i > 2) continue;
    const ValueId g = s.step("reduce_scatter", {x}, {16}, 15);
    s.output(s.step("add", {s.step("dtype_cast", {g}, {16}, 1), s.parameter({16})}, {16}, 1));
  }
  s.output(x);
  s.run(kScheduleCollectives);
  EXPECT_EQ(simulated_us(s), 6 * 10 + 3 * 2) << to_text(s.p);
  EXPECT_EQ(s.run(kScheduleCollectives), 0u);
}

// Each collective's operand is made before the last operand has been sent.
TEST(ScheduleCollectives, WaitsBeforeTooManyOperandsArePiledUp) {
  const auto peak_with = [](int64_t bytes) {
    Sketch s;
    s.options.prefetch_bytes = bytes;
    const ValueId x = s.input({64});
    for (int i = 0; i < 8; ++i)
      s.output(s.step("reduce_scatter", {s.step("relu", {x}, {4, 16}, 10)}, {16}, 100));
    s.run(kScheduleCollectives);
    s.run(kPlanMemory);
    return s.p.live_peak_bytes;
  };
  EXPECT_EQ(peak_with(1 << 20), 8 * 256);
  EXPECT_EQ(peak_with(512), 3 * 256);
}

// The operand is kept anyway, so an early result would only use more memory.
TEST(ScheduleCollectives, StartsWhatIsRepeatedOnlyInTimeForItsReader) {
  Sketch s;
  const ValueId kept = s.input({4, 16});
  ValueId x = s.input({16});
  for (int i = 0; i < 4; ++i) x = s.step("relu", {x}, {16}, 10);
  const ValueId again = s.step("reduce_scatter", {kept}, {16}, 5);
  s.p.steps.back().recomputed = true;
  s.output(s.step("add", {x, again}, {16}, 10));
  s.run(kScheduleCollectives);
  EXPECT_EQ(s.kernels(), (Names{"relu", "relu", "relu", "reduce_scatter", "relu", "add"}));
}

// A latency of 20 µs plus 1 µs for 64 bytes. Copies take 1 µs.
FusePrices slow_network() {
  return {
      [](CollectiveKind, uint32_t, int64_t bytes) { return 20 + static_cast<double>(bytes) / 64; },
      [](int64_t) { return 1.0; }};
}

// Four compute steps, each of which reads a gathered parameter that was cast first.
Sketch with_small_gathers(const std::string& reader, Dims part = {4, 16}) {
  Sketch s;
  ValueId x = s.input({64});
  for (int i = 0; i < 4; ++i) {
    const ValueId cast = s.step("dtype_cast", {s.parameter({16})}, {16}, 1);
    const ValueId g = s.step("all_gather", {cast}, part, 24);
    x = s.step("add", {x, s.step(reader, {g}, {64}, 1)}, {64}, 10);
  }
  s.output(x);
  return s;
}

TEST(FuseCollectives, GathersWithTheCastsOfTheirOperands) {
  Sketch s = with_small_gathers("relu");
  EXPECT_EQ(fuse_collectives(s.p, {.bytes = 1024, .steps = 100}, slow_network()), 3u);
  EXPECT_TRUE(verify(s.p, false).ok()) << verify(s.p, false).message() << to_text(s.p);
  EXPECT_EQ(s.kernels(), (Names{"dtype_cast", "dtype_cast", "dtype_cast", "dtype_cast",
                                "all_gather", "clone", "relu", "add", "clone", "relu", "add",
                                "clone", "relu", "add", "clone", "relu", "add"}));
  EXPECT_EQ(s.p.steps[4].cost_us, 20 + 1024.0 / 64);
  // Rank 2's part of the second parameter comes after two whole rows and the first parameter.
  const ProgramValue& part = s.p.values[s.p.steps[8].inputs[0]];
  EXPECT_EQ(part.offset_bytes, 16 * 4);
  EXPECT_EQ(part.type.strides, (Dims{64, 1}));
}

TEST(FuseCollectives, LetsCopiesReadTheBuffer) {
  Sketch s = with_small_gathers("clone");
  EXPECT_EQ(fuse_collectives(s.p, {.bytes = 1024, .steps = 100}, slow_network()), 3u);
  EXPECT_TRUE(verify(s.p, false).ok()) << verify(s.p, false).message() << to_text(s.p);
  EXPECT_EQ(std::ranges::count(s.kernels(), "clone"), 4) << to_text(s.p);
}

TEST(FuseCollectives, KeepsToItsLimits) {
  const auto gathers = [](const FuseLimits& limits) {
    Sketch s = with_small_gathers("relu");
    fuse_collectives(s.p, limits, slow_network());
    EXPECT_TRUE(verify(s.p, false).ok()) << verify(s.p, false).message();
    return std::ranges::count(s.kernels(), "all_gather");
  };
  EXPECT_EQ(gathers({.bytes = 1023, .steps = 100}), 2);  // one of three, and one alone
  EXPECT_EQ(gathers({.bytes = 512, .steps = 100}), 2);
  EXPECT_EQ(gathers({.bytes = 511, .steps = 100}), 4);
  EXPECT_EQ(gathers({.bytes = 1024, .steps = 4}), 2);
  EXPECT_EQ(gathers({.bytes = 1024, .steps = 3}), 4);
}

TEST(FuseCollectives, NotWhatCopiesMakeSlower) {
  Sketch s = with_small_gathers("relu");
  FusePrices prices = slow_network();
  prices.copy_us = [](int64_t) { return 30.0; };
  EXPECT_EQ(fuse_collectives(s.p, {.bytes = 1024, .steps = 100}, prices), 0u);
}

TEST(FuseCollectives, ReductionsWhereTheLastOneStood) {
  Sketch s;
  ValueId x = s.input({64});
  for (int i = 0; i < 3; ++i) {
    x = s.step("relu", {x}, {64}, 10);
    const ValueId g = s.step("all_reduce", {s.step("neg", {x}, {16}, 1)}, {16}, 21);
    s.p.steps.back().collective = {CollectiveKind::kAllReduce, ReduceOp::kSum, {0}};
    if (i == 1)
      s.output(g);  // a copy writes it to the output
    else
      s.output(s.step("dtype_cast", {g}, {16}, 1));
  }
  s.output(x);
  EXPECT_EQ(fuse_collectives(s.p, {.bytes = 1024, .steps = 100}, slow_network()), 2u);
  EXPECT_TRUE(verify(s.p, false).ok()) << verify(s.p, false).message() << to_text(s.p);
  EXPECT_EQ(s.kernels(), (Names{"relu", "neg", "relu", "neg", "relu", "neg", "all_reduce", "clone",
                                "dtype_cast", "dtype_cast"}));
}

TEST(FuseCollectives, ReduceScattersBehindAConcatenation) {
  Sketch s;
  ValueId x = s.input({64});
  for (int i = 0; i < 3; ++i) {
    x = s.step("relu", {x}, {64}, 10);
    const ValueId operand = s.step("neg", {x}, {4, 16 + i}, 1);
    const ValueId g = s.step("reduce_scatter", {operand}, {16 + i}, 21);
    s.p.steps.back().collective = {CollectiveKind::kReduceScatter, ReduceOp::kSum, {0}};
    s.output(i == 1 ? g : s.step("dtype_cast", {g}, {16 + i}, 1));
  }
  s.output(x);
  EXPECT_EQ(fuse_collectives(s.p, {.scatter_bytes = 1024, .steps = 100}, slow_network()), 2u);
  EXPECT_TRUE(verify(s.p, false).ok()) << verify(s.p, false).message() << to_text(s.p);
  EXPECT_EQ(s.kernels(), (Names{"relu", "neg", "relu", "neg", "relu", "neg", "cat",
                                "reduce_scatter", "clone", "dtype_cast", "dtype_cast"}));
  const ProgramStep &cat = s.p.steps[6], &scatter = s.p.steps[7];
  EXPECT_EQ(s.p.values[cat.outputs[0]].type.shape, (Dims{4, 51}));
  EXPECT_EQ(scatter.inputs, cat.outputs);
  EXPECT_EQ(s.p.values[scatter.outputs[0]].type.shape, (Dims{51}));
  EXPECT_EQ(scatter.cost_us, 20 + 4 * 51 * 4 / 64.0) << "the price of what all ranks get";
  EXPECT_EQ(s.p.values[s.p.steps[8].inputs[0]].offset_bytes, 16 * 4) << "behind the first";
}

// Another reduction op, another group, or a reduction that compute waits for.
TEST(FuseCollectives, NotWhatDiffers) {
  Sketch s;
  const ValueId x = s.input({64});
  const Collective kinds[] = {{CollectiveKind::kAllReduce, ReduceOp::kSum, {0}},
                              {CollectiveKind::kAllReduce, ReduceOp::kMax, {0}},
                              {CollectiveKind::kAllReduce, ReduceOp::kSum, {0}}};
  for (const Collective& c : kinds) {
    const ValueId g = s.step("all_reduce", {s.step("neg", {x}, {16}, 1)}, {16}, 21);
    s.p.steps.back().collective = c;
    const bool last = &c == &kinds[2];
    s.output(last ? s.step("add", {g, s.step("relu", {x}, {16}, 1)}, {16}, 10) : g);
  }
  EXPECT_EQ(fuse_collectives(s.p, {.bytes = 1024, .steps = 100}, slow_network()), 0u);
}

TEST(FuseCollectives, OnlyWhereTheStepBecomesShorter) {
  Monitor monitor;
  Sketch exposed = with_small_gathers("relu"), plain = with_small_gathers("relu");
  plain.run(kScheduleCollectives);
  const auto gone = schedule_fused(exposed.p, 1024, slow_network(), exposed.options, monitor);
  ASSERT_TRUE(gone.ok()) << gone.status().message();
  EXPECT_EQ(*gone, 3u);
  EXPECT_LT(simulated_us(exposed), simulated_us(plain));
  EXPECT_EQ(exposed.run(kScheduleCollectives), 0u);

  Sketch hidden = with_queue();  // compute takes long enough to hide it
  const auto none = schedule_fused(hidden.p, 1024, slow_network(), hidden.options, monitor);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, 0u);
  EXPECT_GT(hidden.p.streams.size(), 1u) << "not scheduled";
}

TEST(FuseCollectives, OnlyWhatMemoryPermits) {
  Monitor monitor;
  const auto peak_and_gone = [&](int64_t fuse_bytes) {
    Sketch s = with_small_gathers("relu");
    s.options.arena_limit_bytes = 0;  // no more than the unavoidable memory
    const auto gone = schedule_fused(s.p, fuse_bytes, slow_network(), s.options, monitor);
    EXPECT_TRUE(gone.ok());
    s.run(kPlanMemory);
    return std::pair(s.p.live_peak_bytes, *gone);
  };
  const auto [plain, none] = peak_and_gone(1);
  const auto [fused, gone] = peak_and_gone(1024);
  EXPECT_EQ(none, 0u);
  EXPECT_EQ(gone, 0u) << "four gathered parameters are held at once";
  EXPECT_EQ(fused, plain);
}

// w[8] is gathered along the inner mesh dim y, then along x.
struct Chain {
  Sketch s;
  ValueId w, inner, outer;
  Chain() {
    s.p.mesh = {{"x", 4}, {"y", 2}};
    w = s.parameter({8});
    inner = s.step("all_gather", {w}, {2, 8}, 3);
    s.p.steps.back().collective.axes = {1};
    outer = s.step("all_gather", {inner}, {4, 2, 8}, 5);
    s.output(s.step("exp", {outer}, {4, 2, 8}));
  }
  uint32_t fuse(double us, double copy_us = 0) {
    return fuse_gather_chains(s.p, {[=](CollectiveKind, uint32_t, int64_t) { return us; },
                                    [=](int64_t) { return copy_us; }});
  }
};

TEST(GatherChains, BecomeOneGatherInShardOrder) {
  for (const double us : {6.0, 100.0}) {  // not more expensive than the chain
    Chain c;
    EXPECT_EQ(c.fuse(us), 1u);
    c.s.run(kDeadSteps);
    EXPECT_EQ(c.s.kernels(), (Names{"all_gather", "exp"}));
    const ProgramStep& gather = c.s.p.steps[0];
    EXPECT_EQ(gather.collective.axes, (std::vector<uint8_t>{0, 1}));
    EXPECT_EQ(c.s.p.values[gather.outputs[0]].type.shape, (Dims{8, 8}));
    EXPECT_DOUBLE_EQ(gather.cost_us, std::min(us, 8.0));
    EXPECT_EQ(c.fuse(us), 0u);
  }
}

TEST(GatherChains, LeaveABlockWhereTheFirstGatherIsReadToo) {
  for (const double copy_us : {0.8, 0.9}) {  // the chain takes 8 µs
    Chain c;
    c.s.output(c.s.step("neg", {c.inner}, {2, 8}));
    if (copy_us > 0.8) {
      EXPECT_EQ(c.fuse(100, copy_us), 0u);
      continue;
    }
    EXPECT_EQ(c.fuse(100, copy_us), 1u);
    EXPECT_TRUE(verify(c.s.p, false).ok()) << verify(c.s.p, false).message() << to_text(c.s.p);
    EXPECT_EQ(c.s.kernels(), (Names{"all_gather", "local_slice", "exp", "neg"}));
    const ProgramStep &gather = c.s.p.steps[0], &slice = c.s.p.steps[1];
    EXPECT_EQ(gather.collective.axes, (std::vector<uint8_t>{0, 1}));
    EXPECT_EQ(c.s.p.values[slice.inputs[0]].type.shape, (Dims{4, 16}));
    EXPECT_EQ(c.s.p.values[slice.inputs[0]].storage, c.s.p.values[gather.outputs[0]].storage);
    EXPECT_EQ(c.s.p.values[slice.outputs[0]].storage, c.s.p.values[c.inner].storage);
    EXPECT_EQ(c.fuse(100, copy_us), 0u);
  }
}

// Three gathers, where each result but the last has another reader too. They become one gather, and
// each of these readers gets a block of its result.
TEST(GatherChains, LeaveABlockForEachOfSeveral) {
  Chain c;
  c.s.p.mesh.push_back({"z", 2});
  const ValueId whole = c.s.step("all_gather", {c.outer}, {2, 4, 2, 8}, 5);
  c.s.p.steps.back().collective.axes = {2};
  c.s.output(c.s.step("neg", {c.inner}, {2, 8}));
  c.s.output(c.s.step("abs", {whole}, {2, 4, 2, 8}));
  EXPECT_EQ(c.fuse(100), 2u);
  EXPECT_TRUE(verify(c.s.p, false).ok()) << verify(c.s.p, false).message() << to_text(c.s.p);
  EXPECT_EQ(c.s.kernels(),
            (Names{"all_gather", "local_slice", "local_slice", "exp", "neg", "abs"}));
  EXPECT_EQ(c.s.p.steps[0].collective.axes, (std::vector<uint8_t>{2, 0, 1}));
  EXPECT_EQ(c.s.p.values[c.s.p.steps[1].outputs[0]].storage, c.s.p.values[c.outer].storage);
  EXPECT_EQ(c.s.p.values[c.s.p.steps[2].outputs[0]].storage, c.s.p.values[c.inner].storage);
}

// The whole result would be held until the backward pass.
TEST(GatherChains, StayWhereTheSecondGatherIsInTheBackwardPass) {
  Chain c;
  c.s.output(c.s.step("neg", {c.inner}, {2, 8}));
  c.s.p.steps[1].phase = 1;
  EXPECT_EQ(c.fuse(100), 0u);
}

// Both gathers read the result of the first one. One of them becomes the single gather.
TEST(GatherChains, TwoGathersOfOneResult) {
  Chain c;
  const ValueId again = c.s.step("all_gather", {c.inner}, {4, 2, 8}, 5);
  c.s.output(c.s.step("neg", {again}, {4, 2, 8}));
  EXPECT_EQ(c.fuse(100), 1u);
  EXPECT_TRUE(verify(c.s.p, false).ok()) << verify(c.s.p, false).message() << to_text(c.s.p);
  EXPECT_EQ(c.s.kernels(), (Names{"all_gather", "local_slice", "exp", "all_gather", "neg"}));
}

// The parameter is updated in place. If the update comes between the two gathers, the merged gather
// must still use the old value, as the first gather did. An update after both or before both does
// not matter.
TEST(GatherChains, TakeTheValueThatTheFirstGatherTook) {
  for (const size_t at : {0, 1, 2}) {
    Chain c;
    Program& p = c.s.p;
    ProgramStep update;
    update.kernel = "neg";
    update.inputs = {c.w};
    update.outputs = {c.w};
    p.steps.insert(p.steps.begin() + static_cast<std::ptrdiff_t>(at), update);
    p.entries[0].num_steps = static_cast<uint32_t>(p.steps.size());
    EXPECT_EQ(c.fuse(1), at == 1 ? 0u : 1u) << "update before step " << at;
  }
}

TEST(PlanMemory, ReusesBytesOfWhatIsOver) {
  Sketch s;
  ValueId x = s.input({64});
  for (int i = 0; i < 6; ++i) x = s.step("relu", {x}, {64});
  s.output(s.step("relu", {x}, {64}));
  s.run(kPlanMemory);
  EXPECT_EQ(s.p.arena_bytes, 2 * 256);
  EXPECT_EQ(s.p.live_peak_bytes, 2 * 256);
  EXPECT_EQ(s.run(kPlanMemory), 0u);
}

TEST(PlanMemory, KeepsWhatTheOtherStreamStillReads) {
  Sketch s;
  const ValueId x = s.input({64});
  const ValueId a = s.step("relu", {x}, {4, 16}, 10);
  const ValueId r = s.step("reduce_scatter", {a}, {16}, 100);
  const ValueId b = s.step("exp", {x}, {4, 16}, 10);  // must not reuse the memory of `a`
  s.output(s.step("stack", {b, r}, {80}, 10));
  s.run(kScheduleCollectives);
  s.run(kPlanMemory);
  const auto place = [&](ValueId v) { return s.p.storages[s.p.values[v].storage].offset_bytes; };
  EXPECT_NE(place(a), place(b));
}

// By size, b would be placed above a, c in the place of a, and d on top, because only two units are
// left in that place.
TEST(PlanMemory, FillsTheFullestStepWithoutGaps) {
  constexpr int64_t kUnit = 64;
  Sketch s;
  const ValueId x = s.input({kUnit});
  const ValueId a = s.step("relu", {x}, {5 * kUnit});
  const ValueId b = s.step("relu", {x}, {5 * kUnit});
  s.output(s.step("relu", {a}, {kUnit}));
  const ValueId c = s.step("relu", {x}, {3 * kUnit});
  s.step("add", {b, c}, {3 * kUnit});
  s.run(kPlanMemory);
  EXPECT_EQ(s.p.live_peak_bytes, 11 * kUnit * 4);
  EXPECT_EQ(s.p.arena_bytes, 11 * kUnit * 4);
}

TEST(PlanMemory, IsWithinThreeThousandthsOfTheLiveBytes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Sketch s;
    std::vector<ValueId> values = {s.input({64})};
    for (int i = 0; i < 400; ++i) {
      const size_t recent = std::min<size_t>(values.size(), random() % 20 == 0 ? 200 : 5);
      const ValueId in = values[values.size() - 1 - random() % recent];
      const int64_t size = int64_t{1} << (random() % 10);
      values.push_back(s.step("relu", {in, values.back()}, {size * 16}));
    }
    s.output(s.step("relu", {values.back()}, {16}));
    s.run(kPlanMemory);  // verify() finds overlaps
    EXPECT_GE(s.p.arena_bytes, s.p.live_peak_bytes);
    EXPECT_LE(static_cast<double>(s.p.arena_bytes),
              1.003 * static_cast<double>(s.p.live_peak_bytes));
  }
}

TEST(RunPasses, NamesThePassThatBreaksTheProgram) {
  static const PassDef kBreaker = {
      "breaker", "", [](Program& p, const PassOptions&, Monitor&) -> Result<uint32_t> {
        p.steps[0].kernel.clear();
        return 1u;
      }};
  Sketch s;
  s.output(s.step("relu", {s.input({4})}, {4}));
  const PassDef* passes[] = {&kBreaker};
  Monitor monitor;
  const auto reports = run_passes(s.p, passes, s.options, monitor);
  ASSERT_FALSE(reports.ok());
  EXPECT_EQ(reports.status().code(), Code::kInternal);
  EXPECT_NE(reports.status().message().find("'breaker'"), std::string::npos);
}

TEST(RunPasses, StopsWhenCancelled) {
  Sketch s;
  s.output(s.step("relu", {s.input({4})}, {4}));
  std::atomic<bool> cancel = true;
  Monitor monitor;
  monitor.cancel = &cancel;
  EXPECT_EQ(run_passes(s.p, default_passes(), s.options, monitor).status().code(),
            Code::kCancelled);
}

}  // namespace
}  // namespace shw
