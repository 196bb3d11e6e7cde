// Shard orders are decided once: the orders that are reported, saved and pinned are the orders that
// are lowered.
#include <gtest/gtest.h>

#include <map>

#include "compiler/pipeline.h"
#include "packed.h"
#include "plan/placements.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

struct ShardOrdersCase {
  const char* graph;
  const char* mesh;
  Rules rules;
};

class ShardOrders : public ::testing::TestWithParam<ShardOrdersCase> {};

CompileOptions options_of(const ShardOrdersCase& c) {
  CompileOptions options;
  options.mesh = c.mesh;
  options.rules = c.rules;
  options.keep_graph = false;
  return options;
}

TEST_P(ShardOrders, ThatAreReportedAreLowered) {
  const std::vector<uint8_t> graph = testing::test_graph(GetParam().graph);
  const CompileOptions options = options_of(GetParam());
  Monitor monitor;
  const auto model = PreparedModel::create(graph, options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto compiled = testing::compile_packed(**model, options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const Graph& g = (*model)->graph();
  const auto& decisions = compiled->plan.summary.decisions;
  const Program& program = compiled->plan.program;
  const ProgramEntry& entry = program.entries.front();
  const int rank = (*model)->mesh().rank();
  uint32_t ordered = 0;
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    const std::string told = decisions[g.inputs()[i].node.v].result_layout;
    const Port& port = program.input(entry, i);
    EXPECT_EQ(told, to_string(port.layout, rank)) << port.name;
    ordered += told.find('|') != told.npos;
  }
  for (size_t i = 0; i < g.outputs().size(); ++i)
    if (g.outputs()[i].node.valid()) {
      EXPECT_EQ(decisions[g.outputs()[i].node.v].result_layout,
                to_string(program.output(entry, i).layout, rank))
          << program.output(entry, i).name;
    }
  EXPECT_GT(ordered, 0u) << "no order differs from the default: the test sees nothing";
}

TEST_P(ShardOrders, OfSavedPlacementsAreLoweredAgain) {
  const std::vector<uint8_t> graph = testing::test_graph(GetParam().graph);
  CompileOptions options = options_of(GetParam());
  Monitor monitor;
  const auto first = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(first.ok()) << first.status().message();
  options.placements = placements_json(first->plan);
  const auto again = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(placements_json(again->plan), options.placements);
  const Program &a = first->plan.program, &b = again->plan.program;
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < a.steps.size(); ++i) EXPECT_EQ(a.steps[i].kernel, b.steps[i].kernel) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ShardOrders,
    ::testing::Values(ShardOrdersCase{"llama_tiny_2x4", "dp=2,tp=4", Rules::kFull},
                      ShardOrdersCase{"llama8b_L2_8x8_einsum", "dp=8,tp=8", Rules::kCompat},
                      ShardOrdersCase{"llama8b_L2_8x8_einsum", "dp=8,tp=8", Rules::kFull}));

// Both orders are lowered if a pin asks for them.
TEST(PinnedShardOrder, IsLowered) {
  const std::vector<uint8_t> graph = testing::test_graph("llama_tiny_2x4");
  for (const char* layout : {"S(0)S(0)", "S(0)S(0)|1,0"}) {
    CompileOptions options = options_of({"llama_tiny_2x4", "dp=2,tp=4", Rules::kFull});
    options.pins = {{"param.*.w1.weight", layout}};
    options.parameter_budget.kind = ParameterBudget::Kind::kNone;
    Monitor monitor;
    const auto compiled = testing::compile_packed(graph, options, monitor);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    uint32_t seen = 0;
    for (const Port& port : compiled->plan.program.ports) {
      if (!is_input(port.role) || port.name.find(".w1.weight") == port.name.npos) continue;
      ++seen;
      EXPECT_EQ(to_string(port.layout, 2), layout) << port.name;
    }
    EXPECT_GT(seen, 0u);
  }
}

}  // namespace
}  // namespace shw
