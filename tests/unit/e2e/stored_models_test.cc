// Models of transformers and timm that PyTorch traced (tests/data/torch), forward and backward on
// four virtual ranks, against PyTorch's own results. They stand for the architectures that
// tests/frameworks makes where PyTorch is installed.
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
  std::error_code none;  // gtest says that there are no cases
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

class StoredModel : public ::testing::TestWithParam<std::string> {};

TEST_P(StoredModel, ComputesWhatPyTorchDoes) {
  const auto json = import::read_json_file(kTorchFolder + GetParam() + kGraph);
  ASSERT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto tensors = read_gzipped(kTorchFolder + GetParam() + ".safetensors.gz");
  const auto plan = testing::planned(write_graph(*graph), {.mesh = "dp=2,tp=2"});
  ASSERT_TRUE(plan);
  const auto results = tools::execute(plan, "step", tensors);
  ASSERT_TRUE(results.ok()) << results.status().message();

  size_t pytorchs = 0;
  for (const auto& [name, tensor] : tensors) pytorchs += is_result(name);
  const auto compared = testing::compare(*results, tensors, 2e-5);
  EXPECT_GT(pytorchs, 5u);
  EXPECT_EQ(compared.num_compared, pytorchs);
  EXPECT_EQ(compared.num_bad, 0u) << compared.worst_name << " differs by "
                                  << compared.error.at(compared.worst_name);
}

INSTANTIATE_TEST_SUITE_P(Zoo, StoredModel, ::testing::ValuesIn(stored_models()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace shw
