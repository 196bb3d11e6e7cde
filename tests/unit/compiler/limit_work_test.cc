// Memory limits on meshes of three small dims and for models with many layers: the search must not
// need much work, and policies must agree on what fits.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/constrained_model.h"
#include "compiler/place.h"
#include "packed.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

CompileOptions options_on_three_dims() { return {.mesh = "pp=2,dp=2,tp=2", .keep_graph = false}; }

// Branching over tables of some hundred labels processed 6.5e10 table cells, which took half a
// minute, and did not raise the bound.
TEST(PlainLimitOnThreeDims, TakesLittleWork) {
  constexpr uint64_t kMostCells = 8'000'000'000;  // some seconds
  const CompileOptions options = options_on_three_dims();
  Monitor monitor;
  const auto model =
      PreparedModel::create(testing::test_graph("examples/gpt2_tiny_2x4"), options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto question = ConstrainedModel::create(**model, options, monitor);
  ASSERT_TRUE(question.ok()) << question.status().message();
  const auto free = place(*question, 0, {}, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  const double limit = std::trunc(0.7 * free->memory.peak_bytes);
  const auto placed = place(*question, limit, {}, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_LE(placed->memory.held_bytes(), limit);
  EXPECT_GT(placed->stats.cells, 100'000'000u);
  EXPECT_LT(placed->stats.cells, kMostCells);
  // All of that work gave 2022.8, within 1 % of the bound.
  EXPECT_LT(placed->objective_us, 2030);
  EXPECT_LT(placed->objective_us - placed->bound_us, 0.02 * placed->objective_us);
}

// LLaMA-3 8B with 32 layers and Adam.
class LimitOnManyLayers : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.optimizer_factor = 2;
    auto model = PreparedModel::create(testing::test_graph("examples/llama8b_L32_8x8_einsum"),
                                       options_, monitor_);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(*model);
    auto question = ConstrainedModel::create(*model_, options_, monitor_);
    ASSERT_TRUE(question.ok()) << question.status().message();
    question_.emplace(std::move(*question));
  }

  CompileOptions options_{.mesh = "dp=8,tp=8", .keep_graph = false};
  Monitor monitor_;
  std::unique_ptr<const PreparedModel> model_;
  std::optional<ConstrainedModel> question_;
};

// With a wide gap the search ends early. A result within the gap is not called proven.
TEST_F(LimitOnManyLayers, EndsAtWhatIsWithinTheGap) {
  uint64_t cells[2];
  for (const double gap : {0.0, 5e-3}) {
    SCOPED_TRACE(gap);
    options_.gap = gap;
    options_.start();
    const auto placed = place(*question_, 22e9, options_.solver, monitor_);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    cells[gap > 0] = placed->stats.cells;
    EXPECT_EQ(placed->proven, gap == 0);
    const double found = (placed->objective_us - placed->bound_us) / placed->objective_us;
    EXPECT_LE(found, std::max(gap, solver::kOptimalGap) * (1 + 1e-6));
    EXPECT_GE(found, gap > 0 ? 1e-6 : 0);
  }
  EXPECT_LT(2 * cells[1], cells[0]);
}

// Guards against two bugs. Within 21.5 GB, a hole in the arena kept the program of the optimum from
// fitting, and the memory reserved for it left a gap of 2.2e-4. Within 23 GB, fronts were given up
// because tables exceeded 64 MB, and 5.5e10 cells of branching left a gap of 4e-4.
TEST_F(LimitOnManyLayers, IsProvenWithLittleWork) {
  constexpr uint64_t kMostCells = 12'000'000'000;
  for (const double limit : {21.5e9, 23e9}) {
    SCOPED_TRACE(limit);
    const auto placed = place(*question_, limit, {}, monitor_);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_LE(placed->memory.held_bytes(), limit);
    EXPECT_LT(placed->stats.cells, kMostCells);
    EXPECT_LE(placed->objective_us - placed->bound_us, 1e-8 * placed->objective_us);
  }
}

// Values that only groups of fused steps see are planned, but need no memory. The limit applies to
// the program. A step of the shape of LLaMA 3.2 1B needs 12.2 GiB on one GPU, and was refused
// within a limit of 18.6 GiB.
TEST(Limit, IsRefusedOnlyWhereTheProgramExceedsIt) {
  const std::vector<uint8_t> graph = testing::test_graph("llama_tiny_2x4");
  CompileOptions options{.mesh = "dp=1", .keep_graph = false};
  Monitor monitor;
  const auto free = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  options.memory_limit_bytes = free->plan.summary.memory_program_bytes;
  const auto within = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(within.ok()) << within.status().message();
  EXPECT_GT(within->plan.summary.memory_peak_bytes, options.memory_limit_bytes) << "as planned";
  EXPECT_LE(within->plan.summary.memory_program_bytes, options.memory_limit_bytes);

  options.memory_limit_bytes = options.memory_limit_bytes * 8 / 10;
  const auto refused = testing::compile_packed(graph, options, monitor);
  ASSERT_EQ(refused.status().code(), Code::kFailedPrecondition) << refused.status().message();
  const std::string& message = refused.status().message();
  const size_t named = message.find('(');
  ASSERT_NE(named, std::string::npos) << message;
  options.memory_limit_bytes = std::stoll(message.substr(named + 1));
  const auto enough = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(enough.ok()) << enough.status().message();
  EXPECT_LE(enough->plan.summary.memory_program_bytes, options.memory_limit_bytes);
}

// If the planned placement fits, no recomputation is needed. `auto` did not find such placements,
// and named a limit that was a third too high.
TEST(RecomputeAuto, FindsWhatFitsWithoutRepetition) {
  const std::vector<uint8_t> graph = testing::test_graph("ffn_1d8");
  CompileOptions options = options_on_three_dims();
  options.memory_limit_bytes = int64_t{90'000'000};
  Monitor monitor;
  const auto plain = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  options.recompute = *recompute_policy("auto");
  const auto repeating = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(repeating.ok()) << repeating.status().message();
  EXPECT_LE(repeating->plan.summary.memory_program_bytes, options.memory_limit_bytes);
  EXPECT_EQ(repeating->plan.summary.objective_us, plain->plan.summary.objective_us);
  EXPECT_FALSE(repeating->plan.summary.proven) << "repetition could make room for a cheaper one";
}

TEST(RecomputeAuto, NamesALimitThatSuffices) {
  const std::vector<uint8_t> graph = testing::test_graph("ffn_1d8");
  CompileOptions options = options_on_three_dims();
  options.recompute = *recompute_policy("auto");
  options.memory_limit_bytes = int64_t{82'343'936};  // products alone need more
  Monitor monitor;
  const auto none = testing::compile_packed(graph, options, monitor);
  ASSERT_FALSE(none.ok());
  const std::string& message = none.status().message();
  const size_t end = message.find(" bytes)"), begin = message.rfind('(', end) + 1;
  ASSERT_NE(end, std::string::npos) << message;
  options.memory_limit_bytes = std::stoll(message.substr(begin, end - begin));
  EXPECT_LT(options.memory_limit_bytes, 87'000'000);
  const auto enough = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(enough.ok()) << enough.status().message();
  EXPECT_LE(enough->plan.summary.memory_program_bytes, options.memory_limit_bytes);
}

TEST(RecomputeAuto, LooksForTheLowestPeakOnlyInTime) {
  CompileOptions options = options_on_three_dims();
  options.recompute = *recompute_policy("auto");
  Monitor monitor;
  const auto model = PreparedModel::create(testing::test_graph("ffn_1d8"), options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto question = ConstrainedModel::create(**model, options, monitor);
  ASSERT_TRUE(question.ok()) << question.status().message();
  solver::SolveOptions late;
  late.deadline = Deadline().or_in(0);
  const auto lowest = lowest_peak(*question, late, monitor);
  ASSERT_FALSE(lowest.ok());
  EXPECT_EQ(lowest.status().code(), Code::kDeadlineExceeded) << lowest.status().message();
}

}  // namespace
}  // namespace shw
