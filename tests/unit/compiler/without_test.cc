// Some rules always hold: gradients have the layouts of their parameters, and casts come before
// gathers. A conflict with such a rule names it. The rule can be left out by that name, on the same
// model.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "packed.h"

namespace shw {
namespace {

std::vector<uint8_t> llama() {
  const auto json =
      import::read_json_file(SHW_TEST_DATA "/graphs/llama8b_L2_8x8_einsum.graph.pre.json.gz");
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

class Without : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.mesh = "dp=8,tp=8";
    options_.grad_reduce_dtype = Dtype::kF32;
    options_.parameter_budget.kind = ParameterBudget::Kind::kNone;
    auto model = PreparedModel::create(graph_, options_, monitor_);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(*model);
  }

  // Expects that the pins conflict with the rule `always`, and with nothing else once it is left
  // out.
  void expect_only_in_conflict_with(std::string_view always) {
    const auto conflict = testing::compile_packed(*model_, options_, monitor_);
    ASSERT_EQ(conflict.status().code(), Code::kFailedPrecondition) << conflict.status().message();
    EXPECT_NE(conflict.status().message().find(always), std::string::npos)
        << conflict.status().message();
    options_.without = {std::string(always)};
    const auto planned = testing::compile_packed(*model_, options_, monitor_);
    ASSERT_TRUE(planned.ok()) << planned.status().message();
    const auto afresh = testing::compile_packed(graph_, options_, monitor_);
    ASSERT_TRUE(afresh.ok()) << afresh.status().message();
    EXPECT_EQ(planned->bytes, afresh->bytes);
    options_.without.clear();
    EXPECT_FALSE(
        testing::compile_packed(*model_, options_, monitor_).ok());  // no effect remains afterwards
  }

  const std::vector<uint8_t> graph_ = llama();
  CompileOptions options_;
  Monitor monitor_;
  std::unique_ptr<const PreparedModel> model_;
};

TEST_F(Without, GradientsMayLieOtherwiseThanTheirParameters) {
  const Graph& graph = model_->graph();
  for (const OutputInfo& out : graph.outputs()) {
    if (out.role != OutputRole::kGradient || !out.node.valid()) continue;
    const InputInfo& in = graph.inputs()[static_cast<size_t>(out.of_input)];
    options_.pins = {{graph.full_name(in), "S(0)R"}, {graph.full_name(out), "RS(0)"}};
    break;
  }
  ASSERT_EQ(options_.pins.size(), 2u);
  expect_only_in_conflict_with(kGradientsAlike);
}

TEST_F(Without, ParametersMayBeGatheredBeforeTheirCasts) {
  const Graph& graph = model_->graph();
  for (uint32_t i = 0; i < graph.num_nodes() && options_.pins.empty(); ++i) {
    const NodeId n{i};
    if (graph.op(n) != OpKind::kDtypeCast) continue;
    const NodeId from = graph.operands(n)[0];
    if (const int32_t input = graph.input_index(from); input >= 0)
      options_.pins = {{graph.full_name(graph.inputs()[static_cast<size_t>(input)]), "S(0)*"},
                       {graph.name(n), "RR"}};
  }
  ASSERT_EQ(options_.pins.size(), 2u);
  expect_only_in_conflict_with(kCastsFirst);
}

}  // namespace
}  // namespace shw
