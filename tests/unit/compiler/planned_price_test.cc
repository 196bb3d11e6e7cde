// What a plan says that a step costs is what its program costs: changes of layout, slices and
// copies included. What several uses share is paid once by the program, so that it may cost less.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/pipeline.h"
#include "plan/report.h"
#include "test_graphs.h"

namespace shw {
namespace {

struct PlannedPriceCase {
  const char *graph, *mesh;
  bool shares;  // some uses have copies in common that each pays for in the plan
};

class PlannedPrice : public ::testing::TestWithParam<PlannedPriceCase> {};

TEST_P(PlannedPrice, IsThatOfTheProgram) {
  const auto [graph, mesh, shares] = GetParam();
  CompileOptions options;
  options.mesh = mesh;
  options.keep_graph = false;
  Monitor monitor;
  const auto compiled = compile(testing::test_graph(graph), options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const PlanSummary& s = compiled->plan.summary;
  // A transition breaks ties only.
  const double planned = s.compute_us + s.comm_us;
  const double lowered = program_cost(compiled->plan.program).us;
  if (shares)
    EXPECT_LT(lowered, planned * (1 - 1e-6));
  else
    EXPECT_LE(std::abs(lowered - planned), 1e-6 * planned) << lowered << " and " << planned;
}

INSTANTIATE_TEST_SUITE_P(Graphs, PlannedPrice,
                         ::testing::Values(PlannedPriceCase{"ffn_1d8", "x=8", false},
                                           PlannedPriceCase{"ffn_1d8", "a=2,b=2,c=2,d=2", false},
                                           PlannedPriceCase{"block_1d8", "x=8", false},
                                           PlannedPriceCase{"block_1d8", "dp=8,tp=8", true},
                                           PlannedPriceCase{"llama_tiny_2x4", "x=8", true},
                                           PlannedPriceCase{"llama_tiny_2x4", "dp=2,tp=4", false},
                                           PlannedPriceCase{"llama_tiny_2x4", "a=2,b=2,c=2", false},
                                           PlannedPriceCase{"bert_mlm", "dp=2,tp=4", false},
                                           PlannedPriceCase{"qwen2_bf16", "dp=2,tp=4", false},
                                           PlannedPriceCase{"examples/llama8b_L2_8x8_einsum",
                                                            "dp=8,tp=8", false}));

}  // namespace
}  // namespace shw
