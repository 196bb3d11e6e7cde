// What the ops compute, against NumPy (tests/data/numpy): one graph that uses the ops which no
// model in examples/data has, planned and executed on one rank and on meshes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/safetensors.h"
#include "plan/plan.h"
#include "tools/compare.h"
#include "tools/execute.h"

namespace shw {
namespace {

const std::string kFolder = std::string(SHW_TEST_DATA) + "/numpy/";

std::string text_of(const tools::Comparison& compared) {
  std::string text;
  for (const auto& [name, error] : compared.error)
    if (!(error <= 2e-6)) text += "\n  " + name + ": " + std::to_string(error);
  return text;
}

class NumPy : public ::testing::TestWithParam<const char*> {};

TEST_P(NumPy, SaysTheSame) {
  std::ostringstream text;
  text << std::ifstream(kFolder + "ops.swt").rdbuf();
  const auto graph = parse_graph(text.str());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  const auto compiled = compile(write_graph(*graph), {.mesh = GetParam()}, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message() << " at "
                             << compiled.status().node_name();
  auto plan = read_plan(compiled->bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto tensors = import::read_safetensors(kFolder + "ops.safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  const auto got = tools::execute(std::make_shared<const Plan>(std::move(*plan)), "step", *tensors);
  ASSERT_TRUE(got.ok()) << got.status().message();
  const auto compared = tools::compare(*got, *tensors, 2e-6);
  EXPECT_EQ(compared.num_compared, graph->outputs().size());
  EXPECT_EQ(compared.num_bad, 0u) << text_of(compared);
}

INSTANTIATE_TEST_SUITE_P(Meshes, NumPy, ::testing::Values("one=1", "a=2,b=2", "a=3"),
                         [](const auto& info) { return "Mesh" + std::to_string(info.index); });

}  // namespace
}  // namespace shw
