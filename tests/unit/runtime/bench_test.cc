// Benchmarks of plans: counts are exact, and times are present.
#include "runtime/bench/bench.h"

#include <gtest/gtest.h>

#include "runtime/bench/rank_backend.h"
#include "runtime/bench/work.h"
#include "unit/runtime/program_builder.h"

namespace shw::runtime {
namespace {

using shw::testing::ProgramBuilder;

// On two ranks: y is the sum over the ranks of relu(x·w).
std::shared_ptr<const Plan> small_plan() {
  ProgramBuilder b({{"a", 2}});
  const ValueId x = b.input("x", Dtype::kF32, {64, 32}, Layout{}),
                w = b.input("w", Dtype::kF32, {32, 48}, Layout{});
  const ValueId xw = b.compute("mm", {x, w}, row_major(Dtype::kF32, {64, 48}));
  const ValueId y = b.compute("relu", {xw}, row_major(Dtype::kF32, {64, 48}));
  b.output("y", b.collective(CollectiveKind::kAllReduce, {0}, y, {64, 48}), {64, 48}, Layout{});
  return b.finish();
}

const BenchOp* op(const BenchRank& rank, std::string_view kernel) {
  for (const BenchOp& o : rank.ops)
    if (o.kernel == kernel) return &o;
  return nullptr;
}

BenchOptions quick(std::string_view device) {
  BenchOptions options;
  options.warm_up = 1;
  options.repeats = 3;
  options.backend = *rank_backend(device, 2);
  return options;
}

TEST(Bench, CountsWorkAndTimesEveryKernelOnEveryRank) {
  const auto result = bench(small_plan(), quick("cpu"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->entry, "step");
  EXPECT_EQ(result->ranks.size(), 2u);
  EXPECT_GT(result->seconds.low, 0);
  EXPECT_LE(result->seconds.low, result->seconds.median);
  EXPECT_LE(result->seconds.median, result->seconds.high);
  EXPECT_GT(result->flops_per_second, 0);
  for (const BenchRank& rank : result->ranks) {
    EXPECT_EQ(rank.ops.size(), 4u);
    ASSERT_NE(op(rank, "mm"), nullptr);
    EXPECT_EQ(op(rank, "mm")->flops, 2.0 * 64 * 32 * 48);
    EXPECT_EQ(op(rank, "mm")->bytes, 4.0 * (64 * 32 + 32 * 48 + 64 * 48));
    EXPECT_EQ(rank.flops, 2.0 * 64 * 32 * 48);
    ASSERT_NE(op(rank, "collective.sum[a]"), nullptr);
    double all = 0;
    for (const BenchOp& o : rank.ops) {
      EXPECT_GT(o.seconds, 0) << o.kernel;
      all += o.seconds;
    }
    EXPECT_GT(rank.over_floor.median, 0);
    EXPECT_LT(op(rank, "mm")->seconds, all);
  }
  EXPECT_DOUBLE_EQ(result->floor_seconds, 2.0 * 64 * 32 * 48 / result->flops_per_second);
}

// The comparison uses vector instructions, as other libraries do, even if the processor has a
// matrix unit.
TEST(Bench, ComparesWithProductsByVectors) {
  auto result = bench(small_plan(), quick("cpu"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_GT(result->vector_flops_per_second, 0);
  EXPECT_GT(result->cpu_over_vector_floor.median, 0);
  const auto says = [&] { return to_text(*result).find("by vectors alone") != std::string::npos; };
  result->cpu_over_floor.median = 1.5;
  result->cpu_over_vector_floor.median = 1.4;
  EXPECT_FALSE(says());
  result->cpu_over_vector_floor.median = 0.8;
  EXPECT_TRUE(says());
}

TEST(Bench, SaysWhatThePlanTellsOfEveryKernel) {
  Plan plan = *small_plan();
  plan.summary.hardware = "ours";
  for (ProgramStep& step : plan.program.steps) step.cost_us = step.kernel == "mm" ? 2.5 : 1;
  const auto result = bench(std::make_shared<const Plan>(std::move(plan)), quick("cpu"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_DOUBLE_EQ(op(result->ranks[0], "mm")->planned_seconds, 2.5e-6);
  EXPECT_DOUBLE_EQ(result->ranks[1].timeline[1].planned_seconds, 1e-6);
  EXPECT_NE(to_text(*result).find("on hardware ours"), std::string::npos);
  EXPECT_NE(to_json(*result).find("\"planned_seconds\""), std::string::npos);
}

TEST(Bench, TheTimelineHasEveryLaunchOfEveryRank) {
  const auto result = bench(small_plan(), quick("cpu"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const BenchRank& rank : result->ranks) {
    ASSERT_EQ(rank.timeline.size(), 4u);
    double last = 0;
    for (size_t i = 0; i < 4; ++i) {  // each step reads what the previous one wrote
      const BenchLaunch& launch = rank.timeline[i];
      EXPECT_EQ(launch.step, i);
      EXPECT_EQ(launch.stream, i == 2 ? "a" : "compute") << launch.kernel;
      EXPECT_GE(launch.begin_s, last) << launch.kernel;
      EXPECT_GE(launch.end_s, launch.begin_s) << launch.kernel;
      last = launch.end_s;
    }
  }
  const std::string trace = to_trace(*result);
  size_t events = 0;
  for (size_t at = trace.find("\"ph\": \"X\""); at != trace.npos;
       at = trace.find("\"ph\": \"X\"", at + 1))
    ++events;
  EXPECT_EQ(events, 2u * 4) << trace;
}

TEST(Bench, WholeRunsHaveNoTimesOfLaunches) {
  BenchOptions options = quick("cpu");
  options.whole = true;
  const auto result = bench(small_plan(), options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_GT(result->seconds.low, 0);
  EXPECT_EQ(result->flops_per_second, 0);
  ASSERT_EQ(result->ranks.size(), 2u);
  EXPECT_TRUE(result->ranks[0].ops.empty());
  EXPECT_TRUE(result->ranks[1].timeline.empty());
}

TEST(Bench, ADeviceThatComputesNothingHasNoFloor) {
  const auto result = bench(small_plan(), quick("null"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_FALSE(result->computes);
  EXPECT_EQ(result->flops_per_second, 0);
  EXPECT_NE(to_text(*result).find("computes nothing"), std::string::npos);
}

TEST(Bench, RefusesWhatItCannotTime) {
  // There may be no such device, and no machine has so many.
  const Status absent = rank_backend("cuda", 1 << 20).status();
  EXPECT_TRUE(absent.message().starts_with("not run")) << absent.message();
  EXPECT_EQ(rank_backend("gpu", 2).status().code(), Code::kInvalidArgument);
  BenchOptions options = quick("cpu");
  options.entry = "nowhere";
  EXPECT_EQ(bench(small_plan(), options).status().code(), Code::kNotFound);
  options = quick("cpu");
  options.repeats = 0;
  EXPECT_EQ(bench(small_plan(), options).status().code(), Code::kInvalidArgument);
}

TEST(Bench, QuartilesLieBetweenTheirNeighbours) {
  const Quartiles q = quartiles_of({5, 1, 3, 2, 4});
  EXPECT_EQ(q.low, 2);
  EXPECT_EQ(q.median, 3);
  EXPECT_EQ(q.high, 4);
  EXPECT_EQ(quartiles_of({1, 2}).median, 1.5);
}

TEST(Bench, AttentionCountsTheScoresThatAreSeen) {
  ProgramBuilder b({{"a", 1}});
  const Dims heads{2, 3, 4, 8};
  std::vector<ValueId> qkv;
  for (const char* name : {"q", "k", "v"})
    qkv.push_back(b.input(name, Dtype::kF32, heads, Layout{}));
  Attrs causal;
  causal.set(AttrKey::kCausal, true);
  b.compute("sdpa", qkv, row_major(Dtype::kF32, heads), causal);
  b.compute("sdpa", qkv, row_major(Dtype::kF32, heads));
  const double all = 2.0 * 2 * 3 * (4 * 4) * (8 + 8);
  EXPECT_EQ(work_of(b.program(), b.program().steps[0]).flops, all * 10 / 16);
  EXPECT_EQ(work_of(b.program(), b.program().steps[1]).flops, all);
  causal.set(AttrKey::kWindowLeft, int64_t{1});
  b.compute("sdpa", qkv, row_major(Dtype::kF32, heads), causal);
  EXPECT_EQ(work_of(b.program(), b.program().steps[2]).flops, all * 7 / 16);
}

TEST(Bench, AttentionOfFewQueriesCountsWhatTheySee) {
  ProgramBuilder b({{"a", 1}});
  std::vector<ValueId> qkv = {b.input("q", Dtype::kF32, {1, 1, 2, 8}, Layout{}),
                              b.input("k", Dtype::kF32, {1, 1, 9, 8}, Layout{}),
                              b.input("v", Dtype::kF32, {1, 1, 9, 8}, Layout{})};
  Attrs causal;
  causal.set(AttrKey::kCausal, true);
  b.compute("sdpa", qkv, row_major(Dtype::kF32, {1, 1, 2, 8}), causal);
  EXPECT_EQ(work_of(b.program(), b.program().steps[0]).flops, 2.0 * (1 + 2) * (8 + 8));
}

}  // namespace
}  // namespace shw::runtime
