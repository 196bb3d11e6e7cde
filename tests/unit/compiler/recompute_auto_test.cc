// A memory limit with recompute auto: which limits can be met, how the step time depends on the
// limit, and what is reported.
#include <gtest/gtest.h>

#include <string_view>

#include "bench/deeper_model.h"
#include "compiler/place.h"
#include "graph/reader.h"
#include "graph/writer.h"
#include "packed.h"
#include "plan/report.h"
#include "rewrite/verify.h"
#include "simulate/entry_times.h"
#include "simulate/simulate.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

struct LimitedCase {
  const char* graph;
  const char* mesh;
  double most_gap;         // of the step, at any limit
  double lowest_of_plain;  // lowest limit, as a share of the memory needed without one
  friend void PrintTo(const LimitedCase& c, std::ostream* out) { *out << c.graph; }
};

class Limited : public ::testing::TestWithParam<LimitedCase> {
 protected:
  void SetUp() override {
    auto graph = load_graph(testing::test_graph(GetParam().graph));
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    for (uint32_t n = 0; n < graph->num_nodes(); ++n)
      graph->set_recompute(NodeId{n}, Recompute::kUnset);
    bytes_ = write_graph(*graph);
  }
  Result<Compiled> plan(int64_t limit_bytes, int64_t fuse_bytes = 0) const {
    CompileOptions options{.mesh = GetParam().mesh, .keep_graph = false};
    options.recompute = *recompute_policy("auto");
    options.memory_limit_bytes = limit_bytes;
    options.fuse_bytes = fuse_bytes;
    Monitor monitor;
    return testing::compile_packed(bytes_, options, monitor);
  }
  std::vector<uint8_t> bytes_;
};
INSTANTIATE_TEST_SUITE_P(Graphs, Limited,
                         ::testing::Values(LimitedCase{"llama_tiny_2x4", "dp=8", 0.02, 0.4},
                                           LimitedCase{"examples/gpt2_tiny_2x4", "dp=2,tp=4", 0.02,
                                                       0.5},
                                           LimitedCase{"block_1d8", "dp=8", 0.06, 0.5}),
                         [](const auto& c) { return "Case" + std::to_string(c.index); });

TEST_P(Limited, TimeFallsAsTheLimitRises) {
  const auto plain = plan(0);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(recomputation(plain->plan.program).steps, 0u);
  const int64_t most = plain->plan.summary.memory_program_bytes;
  double last_us = 0;
  for (const double share : {GetParam().lowest_of_plain, 0.8, 1.0}) {
    SCOPED_TRACE(share);
    const auto limit = static_cast<int64_t>(share * static_cast<double>(most));
    const auto compiled = plan(limit);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const PlanSummary& s = compiled->plan.summary;
    const Program& p = compiled->plan.program;
    EXPECT_LE(s.memory_program_bytes, limit);
    EXPECT_GE(s.recompute_excess_us, 0);
    const double us = entry_times(p)[0].us;
    EXPECT_LE(s.recompute_excess_us, GetParam().most_gap * us);
    EXPECT_LE(s.step_bound_us, us);
    EXPECT_EQ(s.step_bound_us > 0, recomputation(p).steps > 0);
    if (last_us > 0) {
      EXPECT_LE(us, last_us) << "a lower limit gave a faster step";
    } else {
      EXPECT_GT(recomputation(p).steps, 0u);
    }
    last_us = us;
    const auto read = read_plan(compiled->bytes);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->summary.recompute_excess_us, s.recompute_excess_us);
    EXPECT_EQ(read->summary.step_bound_us, s.step_bound_us);
    EXPECT_NE(plan_json(*read, entry_times(p), false).find("\"gap\":"), std::string::npos);
    EXPECT_NE(plan_text(*read, entry_times(p)).find("best choice for the limit: gap"),
              std::string::npos);
  }
}

// The winner is scheduled once more with fused collectives. This must not make it slower.
TEST_P(Limited, FusedCollectivesTakeNoLonger) {
  if (std::string_view(GetParam().graph) == "llama_tiny_2x4") GTEST_SKIP() << "two will do";
  const auto plain = plan(0);
  ASSERT_TRUE(plain.ok());
  const int64_t limit = plain->plan.summary.memory_program_bytes / 10 * 9;
  const auto apart = plan(limit), fused = plan(limit, 32 << 20);
  ASSERT_TRUE(apart.ok() && fused.ok());
  EXPECT_LE(fused->plan.summary.memory_program_bytes, limit);
  const double apart_us = entry_times(apart->plan.program)[0].us;
  const double fused_us = entry_times(fused->plan.program)[0].us;
  EXPECT_LE(fused_us, apart_us);
}

TEST_P(Limited, WhatCannotFitIsRefusedWithWhatWould) {
  if (std::string_view(GetParam().graph) == "llama_tiny_2x4") GTEST_SKIP() << "two will do";
  const auto refused = plan(1 << 16);
  ASSERT_FALSE(refused.ok());
  const std::string message = refused.status().message();
  EXPECT_NE(message.find("the lowest peak is at most"), std::string::npos) << message;
  const size_t named = message.rfind('(', message.find(" bytes)"));
  ASSERT_NE(named, std::string::npos) << message;
  const int64_t bytes = std::stoll(message.substr(named + 1));
  const auto found = plan(bytes);
  ASSERT_TRUE(found.ok()) << message << "; " << found.status().message();
  EXPECT_LE(found->plan.summary.memory_program_bytes, bytes);
  const auto without = plan(0);  // the named limit must be near the lowest possible one
  ASSERT_TRUE(without.ok());
  EXPECT_LE(bytes, 0.6 * static_cast<double>(without->plan.summary.memory_program_bytes));
}

// Four layers on few ranks. The choice that keeps the least needs 18.2 GiB, because all that it
// recomputes is held at once. Another choice needs less, and the named limit must be that of the
// other one.
TEST(NamedLimit, IsOfTheChoiceThatCanHoldTheLeast) {
  const auto two = load_graph(testing::test_graph("llama8b_L2_8x8_einsum"));
  ASSERT_TRUE(two.ok()) << two.status().message();
  auto graph = bench::deeper_model(*two, 4, {});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (uint32_t n = 0; n < graph->num_nodes(); ++n)
    graph->set_recompute(NodeId{n}, Recompute::kUnset);
  const std::vector<uint8_t> bytes = write_graph(*graph);
  CompileOptions options{.mesh = "dp=2,tp=4", .keep_graph = false};
  options.recompute = *recompute_policy("auto");
  options.memory_limit_bytes = int64_t{1} << 30;
  Monitor monitor;
  const auto refused = testing::compile_packed(bytes, options, monitor);
  ASSERT_FALSE(refused.ok());
  const std::string message = refused.status().message();
  const size_t named = message.rfind('(', message.find(" bytes)"));
  ASSERT_NE(named, std::string::npos) << message;
  options.memory_limit_bytes = std::stoll(message.substr(named + 1));
  EXPECT_LE(options.memory_limit_bytes, int64_t{14} << 30) << message;
  const auto found = testing::compile_packed(bytes, options, monitor);
  ASSERT_TRUE(found.ok()) << message << "; " << found.status().message();
}

// Two layers fit into half of the memory that they need without a limit, although ports are 34 % of
// it. This works because lives are shortened (recompute/shorten_lives.h) and because values that
// only groups see do not count. When these did count, 53 % was needed with stated layouts.
TEST(LowestLimit, OfTwoLayersIsHalfOfWhatTheyTakeWithout) {
  auto graph = load_graph(testing::test_graph("llama8b_L2_8x8_einsum"));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (uint32_t n = 0; n < graph->num_nodes(); ++n)
    graph->set_recompute(NodeId{n}, Recompute::kUnset);
  const std::vector<uint8_t> bytes = write_graph(*graph);
  for (const bool free_layouts : {true, false}) {
    SCOPED_TRACE(free_layouts);
    CompileOptions options{.mesh = "dp=8,tp=8", .keep_graph = false};
    options.recompute = *recompute_policy("auto");
    if (!free_layouts) {
      options.input_layout = "S(0)R";
      options.output_layout = "S(0)S(2)";
      options.grad_reduce_dtype = Dtype::kF32;
    }
    Monitor monitor;
    const auto plain = testing::compile_packed(bytes, options, monitor);
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    options.memory_limit_bytes = plain->plan.summary.memory_program_bytes / 2;
    const auto half = testing::compile_packed(bytes, options, monitor);
    ASSERT_TRUE(half.ok()) << half.status().message();
    EXPECT_LE(half->plan.summary.memory_program_bytes, options.memory_limit_bytes);
    EXPECT_TRUE(verify(half->plan.program, true).ok());
    EXPECT_GT(recomputation(half->plan.program).steps, 0u);
  }
}

// This graph has more nodes than those above. Neither the placements that are considered nor the
// variants of each depend on the limit.
TEST(LimitsOfAHybrid, TimeFallsAsTheLimitRises) {
  const std::vector<uint8_t> graph = testing::test_graph("torch/recurrent_gemma");
  CompileOptions options{.mesh = "dp=8", .keep_graph = false};
  options.recompute = *recompute_policy("auto");
  Monitor monitor;
  const auto plain = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const auto most = static_cast<double>(plain->plan.summary.memory_program_bytes);
  double last_us = 0;
  for (const double share : {0.32, 0.35, 0.4}) {
    SCOPED_TRACE(share);
    options.memory_limit_bytes = static_cast<int64_t>(share * most);
    const auto compiled = testing::compile_packed(graph, options, monitor);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_LE(compiled->plan.summary.memory_program_bytes, options.memory_limit_bytes);
    const double us = simulated_us(compiled->plan.program);
    if (last_us > 0) {
      EXPECT_LE(us, last_us) << "a lower limit gave a faster step";
    }
    last_us = us;
  }
  EXPECT_LE(last_us, 1.12 * simulated_us(plain->plan.program));
}

// With 32 layers, only some choices are built: those near the limit, on a curve with all its
// corners. Tags state what must be saved, so the curve bends where the least is kept. At the lowest
// limits, lives are shortened and collectives start as early as memory permits. Within 2.9 GiB they
// start as late as possible, and the step takes 417 ms. Within 2.99 GiB, without shorter lives, it
// takes 259 ms. Within 3.0463 GiB, a program is found that fits only after it is packed more
// tightly.
TEST(LimitsOfManySteps, TheGapIsSmallAndTimeFallsAsTheLimitRises) {
  constexpr double kGap = 0.01;
  const std::vector<uint8_t> bytes = testing::test_graph("examples/llama8b_L32_8x8_einsum");
  CompileOptions options{.mesh = "dp=16,tp=8", .keep_graph = false};
  options.recompute = *recompute_policy("auto");
  double last_us = 270e3;
  for (const double gib : {2.9, 2.99, 3.0463, 3.273, 4.783}) {
    SCOPED_TRACE(gib);
    options.memory_limit_bytes = static_cast<int64_t>(gib * 0x1p30);
    Monitor monitor;
    const auto compiled = testing::compile_packed(bytes, options, monitor);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_LE(compiled->plan.summary.memory_program_bytes, options.memory_limit_bytes);
    const double us = simulated_us(compiled->plan.program);
    EXPECT_LE(us, last_us) << "a lower limit gave a faster step";
    EXPECT_LE(compiled->plan.summary.recompute_excess_us, kGap * us);
    if (gib > 2.95) {
      EXPECT_LE(us, 225e3);
    }
    last_us = us;
  }
}

// If all layers recompute one more value, collectives become hidden that were not: the step takes
// 377.8 ms and holds 4.27 GiB. The first choice that fits within 4.93 GiB takes 378.6 ms.
TEST(LimitsOfManySteps, CornersBehindTheFirstChoiceThatFitsAreTried) {
  auto graph = load_graph(testing::test_graph("examples/llama8b_L32_8x8_einsum"));
  ASSERT_TRUE(graph.ok());
  for (uint32_t n = 0; n < graph->num_nodes(); ++n)
    graph->set_recompute(NodeId{n}, Recompute::kUnset);
  CompileOptions options{.mesh = "dp=8,tp=8", .keep_graph = false};
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = Dtype::kF32;
  options.recompute = *recompute_policy("auto");
  double last_us = 378e3;
  for (const double gib : {4.2876, 4.9322}) {
    SCOPED_TRACE(gib);
    options.memory_limit_bytes = static_cast<int64_t>(gib * 0x1p30);
    Monitor monitor;
    const auto compiled = testing::compile_packed(write_graph(*graph), options, monitor);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_LE(compiled->plan.summary.memory_program_bytes, options.memory_limit_bytes);
    const double us = simulated_us(compiled->plan.program);
    EXPECT_LE(us, last_us) << "a lower limit gave a faster step";
    last_us = us;
  }
}

// On three small dims many labels cost nearly the same, and no bound separates them. A search over
// all labels processed 1e11 table cells, which took minutes for a model of half a megabyte. A
// search over the likely labels processes few.
TEST(LimitOnThreeDims, TakesLittleWork) {
  constexpr uint64_t kMostCells = 8'000'000'000;  // some seconds
  for (const char* name : {"apertus", "llama_tiny_2x4"}) {
    SCOPED_TRACE(name);
    CompileOptions options{.mesh = "pp=2,dp=2,tp=2", .keep_graph = false};
    options.recompute = *recompute_policy("auto");
    Monitor monitor;
    const std::vector<uint8_t> graph = testing::test_graph(name);
    const auto model = PreparedModel::create(graph, options, monitor);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto question = ConstrainedModel::create(**model, options, monitor);
    ASSERT_TRUE(question.ok()) << question.status().message();
    const auto plain =
        testing::compile_packed(graph, {.mesh = options.mesh, .keep_graph = false}, monitor);
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    const double limit = 0.7 * static_cast<double>(plain->plan.summary.memory_program_bytes);
    const auto placed = place(*question, limit, {}, monitor);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_LE(placed->memory.held_bytes(), limit);
    EXPECT_GT(placed->memory.rounds, 2u);
    EXPECT_GT(placed->stats.cells, 100'000'000u);
    EXPECT_LT(placed->stats.cells, kMostCells);
    EXPECT_LT(simulated_us(*placed->program), 1.1 * simulated_us(plain->plan.program));
  }
}

// Collectives that are split to run beside their products (passes/split_rows.h): a limit that does
// not bind must not make the step slower.
TEST(SplitRowsWithinALimit, TakeNoLongerThanWithoutOne) {
  const std::vector<uint8_t> graph = testing::test_graph("block_1d8");
  CompileOptions options{.mesh = "dp=8", .keep_graph = false};
  const auto planned_us = [&] {
    Monitor monitor;
    const auto compiled = testing::compile_packed(graph, options, monitor);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? simulated_us(compiled->plan.program) : 0;
  };
  const double us = planned_us();
  options.memory_limit_bytes = int64_t{1} << 40;
  for (const char* policy : {"none", "auto"}) {
    options.recompute = *recompute_policy(policy);
    EXPECT_LE(planned_us(), us * (1 + 1e-9)) << policy;
  }
}

}  // namespace
}  // namespace shw
