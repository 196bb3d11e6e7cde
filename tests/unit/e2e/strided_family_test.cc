// LLaMA-3 8B on 8×8 with its linear layers as einsums, as plain matrix products, and as products
// with strided shards. Strided shards must make up for what flattening the batch loses.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "packed.h"
#include "plan/report.h"

namespace shw {
namespace {

struct Outcome {
  PlanSummary summary;
  double program_us = 0;
};

Outcome outcome_of(const std::vector<uint8_t>& graph, bool einsum, bool strided) {
  CompileOptions o;
  o.mesh = "dp=8,tp=8";
  o.input_layout = "S(0)R";
  o.output_layout = "S(0)S(2)";
  o.grad_reduce_dtype = Dtype::kF32;
  o.einsum = einsum;
  o.strided = strided;
  Monitor monitor;
  const auto compiled = testing::compile_packed(graph, o, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return {};
  return {compiled->plan.summary, program_cost(compiled->plan.program).us};
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
  const Outcome einsum = outcome_of(bytes, true, false), strided = outcome_of(bytes, false, true),
                plain = outcome_of(bytes, false, false);
  EXPECT_TRUE(einsum.summary.proven && strided.summary.proven && plain.summary.proven);
  // All plain strategies are still offered.
  EXPECT_GT(strided.summary.num_strategies, plain.summary.num_strategies);
  EXPECT_LT(strided.summary.objective_us, plain.summary.objective_us);
  // The programs cost the same, but the plans may differ slightly. If several uses of a value need
  // the same slice, each use pays for it, and the two graphs have different numbers of such uses.
  EXPECT_NEAR(strided.program_us, einsum.program_us, 1e-9 * einsum.program_us);
  EXPECT_LE(strided.summary.objective_us, einsum.summary.objective_us);
}

INSTANTIATE_TEST_SUITE_P(Layers, StridedFamilyOnLlama, ::testing::Values(2, 32));

}  // namespace
}  // namespace shw
