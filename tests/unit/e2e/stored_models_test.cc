// Models from transformers and timm that PyTorch traced (tests/data/torch). They run forward and
// backward on four virtual ranks and are compared with PyTorch's own results. They represent the
// architectures that tests/frameworks generates if PyTorch is installed.
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <filesystem>

#include "compare.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "run_plan.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

using import::TensorFile;

const std::string kTorchFolder = std::string(SHW_TEST_DATA) + "/torch/";
constexpr const char* kGraph = ".graph.json.gz";

std::vector<std::string> stored_models() {
  std::vector<std::string> names;
  std::error_code none;  // if it fails, gtest reports that there are no cases
  for (const auto& file : std::filesystem::directory_iterator(kTorchFolder, none)) {
    const std::string name = file.path().filename();
    if (name.ends_with(kGraph)) names.push_back(name.substr(0, name.find(kGraph)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TensorFile read_gzipped(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  EXPECT_TRUE(file) << path;
  std::vector<uint8_t> bytes;
  std::array<uint8_t, 65536> block;
  while (file != nullptr) {
    const int count = gzread(file.get(), block.data(), block.size());
    if (count <= 0) break;
    bytes.insert(bytes.end(), block.begin(), block.begin() + count);
  }
  auto tensors = import::parse_safetensors(bytes);
  EXPECT_TRUE(tensors.ok()) << path << ": " << tensors.status().message();
  return tensors.ok() ? std::move(*tensors) : TensorFile();
}

bool is_result(const std::string& name) {
  return name.starts_with("output") || name.starts_with("grad.") || name.starts_with("update.");
}

// Plans the model, runs it, and compares it with PyTorch's results.
std::shared_ptr<const Plan> compare_with_pytorch(const std::string& name,
                                                 const CompileOptions& options) {
  const auto json = import::read_json_file(kTorchFolder + name + kGraph);
  EXPECT_TRUE(json.ok()) << json.status().message();
  if (!json.ok()) return nullptr;
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return nullptr;
  const auto tensors = read_gzipped(kTorchFolder + name + ".safetensors.gz");
  auto plan = testing::planned(write_graph(*graph), options);
  if (plan == nullptr) return nullptr;
  const auto results = tools::execute(plan, "step", tensors);
  EXPECT_TRUE(results.ok()) << results.status().message();
  if (!results.ok()) return nullptr;

  size_t pytorchs = 0;
  for (const auto& [tensor_name, tensor] : tensors) pytorchs += is_result(tensor_name);
  const auto compared = testing::compare(*results, tensors, 2e-5);
  EXPECT_GT(pytorchs, 5u);
  EXPECT_EQ(compared.num_compared, pytorchs);
  EXPECT_EQ(compared.num_bad, 0u) << compared.worst_name << " differs by "
                                  << compared.error.at(compared.worst_name);
  return plan;
}

class StoredModel : public ::testing::TestWithParam<std::string> {};

TEST_P(StoredModel, ComputesWhatPyTorchDoes) {
  EXPECT_NE(compare_with_pytorch(GetParam(), {.mesh = "dp=2,tp=2"}), nullptr);
}

// Expert parallelism: each rank of `ep` has half of the experts, forward and backward.
TEST(DeepSeekV3, TrainsWithItsExpertsOnDifferentRanks) {
  CompileOptions options{.mesh = "dp=2,ep=2"};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  // For such small weights, the planner's own choice would be to move the weights.
  options.pins = {{"param.*.experts.*", "RS(0)"}, {"permute_11", "RS(0)"},
                  {"permute_12", "RS(0)"},        {"grouped_mm_fallback*.1", "RP"},
                  {"grouped_mm_fallback", "RP"},  {"grouped_mm_fallback_1", "RP"}};
  const auto plan = compare_with_pytorch("deepseek_v3", options);
  ASSERT_NE(plan, nullptr);
  size_t products = 0;
  for (const ProgramStep& step : plan->program.steps) {
    if (step.kernel != "grouped_mm") continue;
    ++products;
    const auto type = [&](ValueId v) -> const TensorType& { return plan->program.values[v].type; };
    const TensorType& of_experts =
        type(step.inputs[1]).rank() == 3 ? type(step.inputs[1]) : type(step.outputs[0]);
    EXPECT_EQ(of_experts.shape[0], 2) << "of four experts";
  }
  EXPECT_EQ(products, 6u);
}

INSTANTIATE_TEST_SUITE_P(Zoo, StoredModel, ::testing::ValuesIn(stored_models()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace shw
