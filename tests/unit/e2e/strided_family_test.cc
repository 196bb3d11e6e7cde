// LLaMA-3 8B on 8×8, linear layers as einsums, as plain matrix products, and as products with
// strided shards: the last must make up for what flattening the batch loses.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw {
namespace {

PlanSummary summary_of(const std::vector<uint8_t>& graph, bool einsum, bool strided) {
  CompileOptions o;
  o.mesh = "dp=8,tp=8";
  o.input_layout = "S(0)R";
  o.output_layout = "S(0)S(2)";
  o.grad_reduce_dtype = Dtype::kF32;
  o.einsum = einsum;
  o.strided = strided;
  Monitor monitor;
  const auto compiled = compile(graph, o, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? compiled->plan.summary : PlanSummary{};
}

class StridedFamilyOnLlama : public ::testing::TestWithParam<int> {};

TEST_P(StridedFamilyOnLlama, ReachesTheEinsumFamilysOptimum) {
  const auto json =
      import::read_json_file(std::string(SHW_TEST_DATA) + "/../../examples/data/llama8b_L" +
                             std::to_string(GetParam()) + "_8x8_einsum.graph.pre.json.gz");
  ASSERT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::vector<uint8_t> bytes = write_graph(*graph);
  const PlanSummary einsum = summary_of(bytes, true, false),
                    strided = summary_of(bytes, false, true),
                    plain = summary_of(bytes, false, false);
  EXPECT_TRUE(einsum.proven && strided.proven && plain.proven);
  // All plain strategies are still there.
  EXPECT_GT(strided.num_strategies, plain.num_strategies);
  EXPECT_LT(strided.objective_us, plain.objective_us);
  // The work is the same; a view fewer may change its layout.
  EXPECT_NEAR(strided.compute_us + strided.comm_us, einsum.compute_us + einsum.comm_us,
              1e-9 * einsum.objective_us);
  EXPECT_LE(strided.objective_us, einsum.objective_us);
}

INSTANTIATE_TEST_SUITE_P(Layers, StridedFamilyOnLlama, ::testing::Values(2, 32));

}  // namespace
}  // namespace shw
