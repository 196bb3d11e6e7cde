// The price that a plan states for a step is the cost of its program. This includes changes of
// layout, slices and copies, and what several uses share counts once. Collectives that are split to
// run beside their products (passes/split_rows.h) cost slightly more.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/pipeline.h"
#include "packed.h"
#include "plan/report.h"
#include "test_graphs.h"

namespace shw {
namespace {

struct PlannedPriceCase {
  const char *graph, *mesh;
  enum Against { kEqual, kSplits } against;
};

class PlannedPrice : public ::testing::TestWithParam<PlannedPriceCase> {};

TEST_P(PlannedPrice, IsThatOfTheProgram) {
  const auto [graph, mesh, against] = GetParam();
  CompileOptions options;
  options.mesh = mesh;
  options.keep_graph = false;
  Monitor monitor;
  const auto compiled = testing::compile_packed(testing::test_graph(graph), options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const PlanSummary& s = compiled->plan.summary;
  // The transition cost only breaks ties.
  const double planned = s.compute_us + s.comm_us;
  const double lowered = program_cost(compiled->plan.program).us;
  if (against == PlannedPriceCase::kSplits) {
    EXPECT_GT(lowered, planned);
    EXPECT_LE(lowered, 1.03 * planned);
  } else {
    EXPECT_LE(std::abs(lowered - planned), 1e-6 * planned) << lowered << " and " << planned;
  }
}

using enum PlannedPriceCase::Against;
INSTANTIATE_TEST_SUITE_P(
    Graphs, PlannedPrice,
    ::testing::Values(PlannedPriceCase{"ffn_1d8", "x=8", kEqual},
                      PlannedPriceCase{"ffn_1d8", "a=2,b=2,c=2,d=2", kEqual},
                      PlannedPriceCase{"block_1d8", "x=8", kSplits},
                      // Two uses read one slice. A third use reads what is behind its choice point.
                      PlannedPriceCase{"block_1d8", "dp=8,tp=8", kEqual},
                      PlannedPriceCase{"block_1d8", "a=2,b=2,c=2", kSplits},
                      PlannedPriceCase{"block_3d4x4x4", "dp=8,tp=8", kEqual},
                      PlannedPriceCase{"llama_tiny_2x4", "x=8", kEqual},
                      PlannedPriceCase{"llama_tiny_2x4", "dp=8,tp=8", kEqual},
                      // The outputs are row-major because their pieces have a dim of size 1.
                      PlannedPriceCase{"zoo/gat_scatter", "dp=8,tp=8", kEqual},
                      PlannedPriceCase{"zoo/promo_0d_f64", "x=8", kEqual},
                      PlannedPriceCase{"llama_tiny_2x4", "dp=2,tp=4", kEqual},
                      PlannedPriceCase{"llama_tiny_2x4", "a=2,b=2,c=2", kEqual},
                      PlannedPriceCase{"bert_mlm", "dp=2,tp=4", kEqual},
                      PlannedPriceCase{"qwen2_bf16", "dp=2,tp=4", kEqual},
                      PlannedPriceCase{"examples/llama8b_L2_8x8_einsum", "dp=8,tp=8", kSplits},
                      // Uneven pieces are padded, narrowed, and filled before they are summed.
                      PlannedPriceCase{"zoo/dlrm_bag", "dp=8,tp=8", kEqual}));

// The first use of %w is dearer from the layout of its choice point than from %w itself. But the
// second use reads that layout, so it is made anyway, and the first use from it.
TEST(PlannedPriceOfUses, CountsALayoutThatALaterUseReads) {
  const std::string_view text =
      "input param.w: %w : bf16[65024,4096]\n"
      "input input.0: %i : i64[16,2048]\n"
      "%e = embedding(%w, %i) : bf16[16,2048,4096]\n"
      "%c = cos(%w) : bf16[65024,4096]\n"
      "return output.0 = %e, output.1 = %c\n";
  CompileOptions options;
  options.mesh = "a=8,b=8";
  options.pins = {{"w", "S(0)S(0)"}, {"c", "S(0)R"}, {"e", "S(2)S(2)|1,0"}};
  Monitor monitor;
  const auto compiled = testing::compile_packed(
      {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const PlanSummary& s = compiled->plan.summary;
  const double planned = s.compute_us + s.comm_us;
  EXPECT_LE(std::abs(program_cost(compiled->plan.program).us - planned), 1e-9 * planned);
}

// The value is computed once, but copied, because each output has its own storage.
TEST(PlannedPriceOfOutputs, CountsTheCopyOfWhatIsReturnedTwice) {
  const std::string_view text =
      "input input.0: %x : f32[64,64]\n"
      "%c = cos(%x) : f32[64,64]\n"
      "%d = cos(%x) : f32[64,64]\n"
      "return output.0 = %c, output.1 = %d\n";
  CompileOptions options;
  options.mesh = "x=2";
  Monitor monitor;
  const auto compiled = testing::compile_packed(
      {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const Program& program = compiled->plan.program;
  ASSERT_EQ(program.steps.size(), 2u);
  EXPECT_EQ(program.steps[1].kernel, "clone");
  EXPECT_NEAR(compiled->plan.summary.compute_us, program_cost(program).us, 1e-9);
}

}  // namespace
}  // namespace shw
