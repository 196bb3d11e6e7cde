// Plans with --overlap simulated. In the simulator they are never slower than plans without it,
// their bytes do not depend on the number of threads, and they respect the same limits as other
// plans.
#include "compiler/fastest.h"

#include "compiler/exposure.h"
#include "graph/text.h"
#include "packed.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

double step_us(const Compiled& compiled) { return Exposure::of(compiled.plan.program).step_us(); }

CompileOptions options_on(const char* mesh) {
  CompileOptions options;
  options.mesh = mesh;
  options.parameter_budget = {ParameterBudget::Kind::kNone};
  options.keep_graph = false;
  return options;
}

struct Both {
  Compiled without, with;
};
Both with_and_without(const std::vector<uint8_t>& graph, CompileOptions options) {
  Monitor monitor;
  auto without = testing::compile_packed(graph, options, monitor);
  EXPECT_TRUE(without.ok()) << without.status().message();
  options.overlap.kind = Overlap::kSimulated;
  auto with = testing::compile_packed(graph, options, monitor);
  EXPECT_TRUE(with.ok()) << with.status().message();
  return {*std::move(without), *std::move(with)};
}

// Under the parameter budget, recipes that keep whole parameters are not candidates.
TEST(Fastest, KeepsWhatTheOptionsState) {
  CompileOptions options = options_on("dp=8");
  options.parameter_budget = {};
  options.output_layout = "S(0)";
  const Both both = with_and_without(testing::test_graph("block_1d8"), options);
  EXPECT_LE(step_us(both.with), step_us(both.without));
  EXPECT_GE(both.with.plan.summary.objective_us, both.without.plan.summary.objective_us);
  for (const Port& port : both.with.plan.program.ports)
    if (port.role == PortRole::kParameter || port.role == PortRole::kResult) {
      EXPECT_TRUE(port.layout[0].is_shard()) << port.name;
    }
}

// A large batch hides the reductions of gradients, which the price counts in full.
TEST(Fastest, HidesWhatThePriceCounts) {
  const Both both = with_and_without(testing::test_graph("block_1d8"), options_on("dp=8"));
  EXPECT_LT(step_us(both.with), 0.95 * step_us(both.without));
  const PlanSummary &was = both.without.plan.summary, &is = both.with.plan.summary;
  EXPECT_EQ(is.overlap, "simulated");
  EXPECT_TRUE(was.proven);
  EXPECT_FALSE(is.proven) << "its price is not the lowest";
  EXPECT_GT(is.objective_us, was.objective_us);
  EXPECT_EQ(is.bound_us, was.bound_us) << "a bound of prices";
  EXPECT_NEAR(is.objective_us, is.compute_us + is.comm_us + is.transition_us, 1e-6);
}

// Without communication there is nothing to hide: the plan stays the same and is still proven.
TEST(Fastest, LeavesWhatComputesLeast) {
  const Both both =
      with_and_without(testing::test_graph("llama_tiny_2x4"), options_on("dp=2,tp=4"));
  EXPECT_EQ(step_us(both.with), step_us(both.without));
  EXPECT_TRUE(both.with.plan.summary.proven);
  EXPECT_EQ(both.with.plan.summary.objective_us, both.without.plan.summary.objective_us);
}

TEST(Fastest, IsTheSameWithAnyNumberOfThreads) {
  const std::vector<uint8_t> graph = testing::test_graph("block_1d8");
  CompileOptions options = options_on("dp=2,tp=4");
  options.overlap.kind = Overlap::kSimulated;
  Monitor monitor;
  const auto alone = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  for (const uint32_t threads : {2u, 4u, 16u}) {
    options.solver.threads = threads;
    const auto together = testing::compile_packed(graph, options, monitor);
    ASSERT_TRUE(together.ok()) << together.status().message();
    EXPECT_TRUE(together->bytes == alone->bytes) << threads << " threads";
  }
}

TEST(Fastest, StaysWithinTheMemoryLimit) {
  const std::vector<uint8_t> graph = testing::test_graph("block_1d8");
  CompileOptions options = options_on("dp=2,tp=4");
  Monitor monitor;
  const auto free = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  options.memory_limit_bytes = free->plan.summary.memory_peak_bytes * 3 / 4;
  for (const auto kind : {RecomputePolicy::Kind::kNone, RecomputePolicy::Kind::kAuto}) {
    options.recompute.kind = kind;
    const Both both = with_and_without(graph, options);
    EXPECT_LE(step_us(both.with), step_us(both.without));
    EXPECT_LE(both.with.plan.summary.memory_program_bytes, options.memory_limit_bytes);
  }
}

// Neither the placements that are tried nor the variants of each depend on the limit. When each
// limit had its own prices, a limit of 1.9 GB gave a faster step than one of 2.1 GB (18.41 and
// 18.46 ms).
TEST(Fastest, TimeFallsAsTheLimitRises) {
  const std::vector<uint8_t> graph = testing::test_graph("block_1d8");
  CompileOptions options = options_on("dp=2,tp=4");
  options.overlap.kind = Overlap::kSimulated;
  options.recompute.kind = RecomputePolicy::Kind::kAuto;
  double last_us = 0;
  for (const double gb : {2.087, 1.941}) {
    const auto limit = static_cast<int64_t>(gb * 1e9);
    SCOPED_TRACE(gb);
    options.memory_limit_bytes = limit;
    Monitor monitor;
    const auto plan = testing::compile_packed(graph, options, monitor);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_LE(plan->plan.summary.memory_program_bytes, limit);
    EXPECT_GE(step_us(*plan), last_us) << "a lower limit gave a faster step";
    last_us = step_us(*plan);
  }
  EXPECT_LT(last_us, 18'600);
}

// A limit that does not bind must not make the step longer than no limit does. (With optimizer
// state, both cases plan the same graph: equal nodes are merged in neither.) Searches within a
// limit are more approximate: alone they found 21.1 ms here, compared with 18.3 ms without a limit.
TEST(Fastest, ALimitThatBindsNothingTakesNothingAway) {
  const std::vector<uint8_t> graph = testing::test_graph("llama8b_L2_8x8_einsum");
  CompileOptions options{.mesh = "dp=16,tp=8",
                         .input_layout = "S(0)R",
                         .output_layout = "S(0)S(2)",
                         .grad_reduce_dtype = Dtype::kF32,
                         .keep_graph = false};
  options.overlap.kind = Overlap::kSimulated;
  options.optimizer_factor = 2;
  Monitor monitor;
  const auto free = testing::compile_packed(graph, options, monitor);
  options.memory_limit_bytes = 80'000'000'000;
  const auto within = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(free.ok() && within.ok()) << within.status().message();
  EXPECT_LE(step_us(*within), step_us(*free) * (1 + 1e-9));
  EXPECT_GT(within->plan.summary.memory_program_bytes, 0);
  EXPECT_EQ(within->plan.summary.memory_limit_bytes, options.memory_limit_bytes);
}

TEST(Fastest, CountsAllEntriesAndWhatIsRecomputed) {
  CompileOptions options = options_on("dp=8");
  options.entries = {"forward", "backward"};
  options.recompute.kind = RecomputePolicy::Kind::kSelective;
  const Both both = with_and_without(testing::test_graph("block_1d8"), options);
  EXPECT_LT(step_us(both.with), step_us(both.without));
  EXPECT_EQ(both.with.plan.program.entries.size(), 2u);
}

TEST(Fastest, TellsNoPlacementFromNone) {
  CompileOptions options = options_on("dp=8");
  options.overlap.kind = Overlap::kSimulated;
  options.pins = {{"param.*", "R"}, {"param.*", "S(0)"}};
  Monitor monitor;
  const auto none = testing::compile_packed(testing::test_graph("block_1d8"), options, monitor);
  ASSERT_FALSE(none.ok());
  EXPECT_FALSE(none.status().conflicts().empty()) << none.status().message();
}

// An edge's kind says what it sends. A reduction may move along casts up to the product.
TEST(Exposure, KnowsWhatEdgesSend) {
  const auto graph = parse_graph(R"(
input param.w: %w : f32[16,8]
input input.0: %x : f32[4,8]
input tangent.0: %dy : f32[4,16]
%wt = permute(%w, dims=[1,0]) : f32[8,16]{1,8}
%y = mm(%x, %wt) : f32[4,16]
%dyt = permute(%dy, dims=[1,0]) : f32[16,4]{1,16}
%dw = mm(%dyt, %x) : f32[16,8]
%dw2 = neg(%dw) : f32[16,8]
return output.0 = %y, grad.w = %dw2
)");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  std::vector<size_t> kinds;
  for (const SentEdge& e : sent_edges(*graph)) kinds.push_back(e.kind / 2);
  const auto activation = static_cast<size_t>(Sent::kActivation),
             parameter = static_cast<size_t>(Sent::kParameter),
             gradient = static_cast<size_t>(Sent::kGradient);
  // %w → %wt; %x, %wt → %y; %dy → %dyt; %dyt, %x → %dw; %dw → %dw2
  EXPECT_EQ(kinds, (std::vector<size_t>{parameter, activation, parameter, activation, activation,
                                        activation, gradient}));
}

}  // namespace
}  // namespace shw
