// Calls that import expands into several nodes, and models that contain such calls. They run on
// virtual ranks and are compared with PyTorch's results (tests/data/decompositions,
// tests/data/zoo).
#include <gtest/gtest.h>

#include "compare.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "run_plan.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

const std::string kData = SHW_TEST_DATA;

// The tensors of one case. The case number is removed from their names.
import::TensorFile of_case(const import::TensorFile& all,
                           size_t number){const std::string prefix = std::to_string(number) + ".";
import::TensorFile own;
for (const auto& [name, t] : all)
  if (name.starts_with(prefix)) own[name.substr(prefix.size())] = t;
return own;
}  // namespace

void expect_same(import::TensorFile got, const import::TensorFile& want, const std::string& what) {
  for (auto& [name, t] : got) {
    ASSERT_TRUE(want.count(name)) << what << ": " << name;
    const TensorType& type = want.at(name).type;
    if (is_complex(t.type.dtype)) t.type = type;
    EXPECT_EQ(t.type.shape, type.shape) << what;
    EXPECT_EQ(t.type.dtype, type.dtype) << what;
    if (!is_floating(t.type.dtype)) {
      EXPECT_EQ(t.bytes, want.at(name).bytes) << what;
    }
  }
  const auto compared = testing::compare(got, want, 5e-6);
  EXPECT_EQ(compared.num_bad, 0u) << what << ": " << compared.worst_name;
}

TEST(Decompositions, ComputeWhatPyTorchDoes) {
  const auto graphs = import::read_json_file(kData + "/decompositions/graphs.json.gz");
  const auto values = import::read_safetensors(kData + "/decompositions/values.safetensors");
  ASSERT_TRUE(graphs.ok() && values.ok());
  EXPECT_EQ(graphs->size(), 115u);
  for (size_t i = 0; i < graphs->size(); ++i) {
    const nlohmann::json& file = (*graphs)[i];
    const auto& nodes = file["nodes"];
    std::string what = std::to_string(i);
    for (const auto& n : nodes)
      if (n["op"] == "call_function" && n["name"] == "y") what = n["target"];
    const auto graph = import::import_fx_json(file);
    ASSERT_TRUE(graph.ok()) << what << ": " << graph.status().message();
    const import::TensorFile own = of_case(*values, i);
    const auto plan = testing::planned(write_graph(*graph), {.mesh = "a=2"});
    ASSERT_TRUE(plan) << what;
    const auto results = tools::execute(plan, "step", own);
    ASSERT_TRUE(results.ok()) << what << ": " << results.status().message();
    EXPECT_FALSE(results->empty()) << what;
    expect_same(*results, own, what);
  }
}

class ModelOfOthers : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ModelOfOthers, ComputesWhatPyTorchDoes) {
  const auto& [name, mesh] = GetParam();
  const std::string stem = std::string("../../tests/data/zoo/") + name;
  const std::string graph = stem + ".graph.json.gz", tensors = stem + ".safetensors";
  const testing::TinyModel model(graph.c_str(), tensors.c_str());
  const size_t results = std::string_view(name) == "dlrm_bag"      ? 12
                         : std::string_view(name) == "gat_scatter" ? 9
                                                                   : 3;
  model.expect_pytorchs({.mesh = mesh}, results);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ModelOfOthers,
                         ::testing::Combine(::testing::Values("dlrm_bag", "gat_scatter",
                                                              "promo_0d_f64"),
                                            ::testing::Values("dp=2,tp=2", "dp=4,tp=2", "dp=3")),
                         [](const auto& test) {
                           return testing::test_name(std::string(std::get<0>(test.param)) + "_" +
                                                     std::get<1>(test.param));
                         });

}  // namespace shw
}  // namespace shw
