// Compares ops with NumPy (tests/data/numpy). Each graph uses ops that no model in examples/data
// has, and is planned and executed on one rank and on meshes.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "compare.h"
#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/safetensors.h"
#include "packed.h"
#include "plan/plan.h"
#include "run_plan.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

constexpr double kTolerance = 5e-6;
const std::string kNumPyFolder = std::string(SHW_TEST_DATA) + "/numpy/";

std::string text_of(const testing::Comparison& compared) {
  std::string text;
  for (const auto& [name, error] : compared.error)
    if (!(error <= kTolerance)) text += "\n  " + name + ": " + std::to_string(error);
  return text;
}

Result<Compiled> compiled_model(const std::string& model, const CompileOptions& options) {
  std::ostringstream text;
  text << std::ifstream(kNumPyFolder + model + ".swt").rdbuf();
  SHW_ASSIGN_OR_RETURN(const Graph graph, parse_graph(text.str()));
  Monitor monitor;
  return testing::compile_packed(write_graph(graph), options, monitor);
}

void expect_numpys(const std::string& model, const CompileOptions& options) {
  const auto c = compiled_model(model, options);
  ASSERT_TRUE(c.ok()) << c.status().message() << " at " << c.status().node_name();
  EXPECT_TRUE(c->plan.summary.proven);
  auto plan = read_plan(c->bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto tensors = import::read_safetensors(kNumPyFolder + model + ".safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  const size_t results = plan->program.entries[0].outputs.size();
  const auto got = tools::execute(std::make_shared<const Plan>(std::move(*plan)), "step", *tensors);
  ASSERT_TRUE(got.ok()) << got.status().message();
  const auto compared = testing::compare(*got, *tensors, kTolerance);
  EXPECT_EQ(compared.num_compared, results);
  EXPECT_EQ(compared.num_bad, 0u) << text_of(compared);
}

using NumPyCase = std::tuple<const char*, const char*>;
class NumPy : public ::testing::TestWithParam<NumPyCase> {};

TEST_P(NumPy, SaysTheSame) {
  const auto [model, mesh] = GetParam();
  expect_numpys(model, {.mesh = mesh});
}

INSTANTIATE_TEST_SUITE_P(
    Models, NumPy,
    ::testing::Combine(::testing::Values("ops", "vit", "bert", "experts", "loss"),
                       ::testing::Values("one=1", "a=4", "a=2,b=2", "a=3", "a=2,b=2,c=2")),
    [](const auto& made) {
      return testing::test_name(std::get<0>(made.param)) + "_on_" +
             testing::test_name(std::get<1>(made.param));
    });

// The logits are pinned to a sharded vocabulary. 5 does not divide its size.
TEST(CutVocabulary, GivesTheSameLoss) {
  for (const char* mesh : {"tp=4", "tp=3", "tp=5", "tp=7"}) {
    CompileOptions options{.mesh = mesh};
    options.pins = {{"param.head", "S(1)"}, {"logits", "S(1)"}, {"shifted", "S(1)"},
                    {"logp", "S(1)"},       {"hot", "S(1)"},    {"dl", "S(1)"}};
    SCOPED_TRACE(mesh);
    expect_numpys("loss", options);
  }
}

// At the size of a large model only the head needs a pin: the logits are never gathered. For each
// token, only a maximum, two sums and the picked logit are sent. The gradient of the hidden state
// is sent as well.
TEST(CutVocabulary, IsChosenForTheLossWhereItPays) {
  std::ostringstream text;
  text << std::ifstream(kNumPyFolder + "loss.swt").rdbuf();
  std::string large = std::regex_replace(text.str(), std::regex("\\b64\\b"), "8192");
  large = std::regex_replace(large, std::regex("\\b48\\b"), "128256");
  large = std::regex_replace(large, std::regex("\\b32\\b"), "4096");
  const auto graph = parse_graph(large);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options{.mesh = "tp=8"};
  options.pins = {{"param.head", "S(1)"}, {"input.x", "R"}, {"output.dx", "R"}};
  Monitor monitor;
  const auto full = testing::compile_packed(write_graph(*graph), options, monitor);
  ASSERT_TRUE(full.ok()) << full.status().message();
  EXPECT_EQ(testing::num_collectives(*full),
            (std::map<CollectiveKind, int>{{CollectiveKind::kAllReduce, 5}}));
  options.rules = Rules::kCompat;
  const auto compat = testing::compile_packed(write_graph(*graph), options, monitor);
  ASSERT_TRUE(compat.ok()) << compat.status().message();
  EXPECT_LT(full->plan.summary.objective_us, 0.85 * compat->plan.summary.objective_us)
      << full->plan.summary.objective_us << " against " << compat->plan.summary.objective_us;
}

}  // namespace
}  // namespace shw
