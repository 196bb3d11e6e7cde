// Rewrites add, remove and rename nodes. Messages to callers must name the node of the graph that
// they passed in.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/reader.h"
#include "packed.h"
#include "rewrite/pass.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

class Origins : public ::testing::TestWithParam<const char*> {};

TEST_P(Origins, OfRewrittenNodesAreThoseOfTheGivenGraph) {
  const std::vector<uint8_t> bytes = testing::test_graph(GetParam());
  const Graph given = *read_graph(bytes);
  const auto rewritten = run_rewrites(*read_graph(bytes), {.einsum = true, .biased_einsum = true});
  ASSERT_TRUE(rewritten.ok()) << rewritten.status().message();
  ASSERT_NE(rewritten->num_nodes(), given.num_nodes());
  uint32_t same = 0;
  for (uint32_t i = 0; i < rewritten->num_nodes(); ++i) {
    const NodeId n{i}, origin = rewritten->origin(n);
    ASSERT_LT(origin.v, given.num_nodes());
    EXPECT_EQ(rewritten->origin_name(n), given.name(origin));
    const OpKind is = rewritten->op(n), was = given.op(origin);
    if (is == was && rewritten->name(n) == given.name(origin)) ++same;
    if (is == OpKind::kEinsum) {
      EXPECT_TRUE(was == OpKind::kMm || was == OpKind::kAddmm || was == OpKind::kEinsum);
    } else if (is != OpKind::kAlias && is != OpKind::kAdd && is != OpKind::kView) {
      EXPECT_EQ(is, was);
    }
  }
  EXPECT_GT(2 * same, rewritten->num_nodes());
}

TEST_P(Origins, AreWhatTheProgramsStepsName) {
  const std::vector<uint8_t> bytes = testing::test_graph(GetParam());
  const Graph given = *read_graph(bytes);
  CompileOptions options;
  options.mesh = "dp=2,tp=4";
  Monitor monitor;
  const auto compiled = testing::compile_packed(bytes, options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  uint32_t named = 0;
  for (const ProgramStep& step : compiled->plan.program.steps) {
    if (step.node == UINT32_MAX) continue;
    ASSERT_LT(step.node, given.num_nodes());
    for (const OpKind op : {OpKind::kSilu, OpKind::kGelu, OpKind::kEmbedding, OpKind::kRsqrt}) {
      if (step.kernel != op_name(op)) continue;
      ++named;
      EXPECT_EQ(given.op(NodeId{step.node}), op);
    }
  }
  EXPECT_GT(named, 0u);
}

INSTANTIATE_TEST_SUITE_P(Graphs, Origins,
                         ::testing::Values("llama_tiny_2x4", "examples/gpt2_tiny_2x4"),
                         [](const auto& c) { return c.index == 0 ? "llama" : "gpt2"; });

}  // namespace
}  // namespace shw
