// Right runs of whole models pass, against values of PyTorch and NumPy too; values that are 1 %
// away do not.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "import/safetensors.h"
#include "small_run.h"
#include "tools/execute.h"
#include "verify/numbers.h"

namespace shw {
namespace {

using import::TensorFile;
using testing::SmallRun;

struct Model {
  std::vector<uint8_t> graph;
  TensorFile tensors;
};

Model numpy_model(const std::string& name) {
  const std::string path = std::string(SHW_TEST_DATA) + "/numpy/" + name;
  std::ostringstream text;
  text << std::ifstream(path + ".swt").rdbuf();
  const auto graph = parse_graph(text.str());
  const auto tensors = import::read_safetensors(path + ".safetensors");
  EXPECT_TRUE(graph.ok() && tensors.ok()) << name;
  return {write_graph(*graph), *tensors};
}

Model pytorch_model(const std::string& graph_file, const std::string& tensors_file) {
  const std::string folder = std::string(SHW_TEST_DATA) + "/../../examples/data/";
  const auto json = import::read_json_file(folder + graph_file);
  const auto tensors = import::read_safetensors(folder + tensors_file);
  EXPECT_TRUE(json.ok() && tensors.ok()) << graph_file;
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return {write_graph(*graph), *tensors};
}

SmallRun run_of(const Model& model, const std::string& mesh) {
  Monitor monitor;
  CompileOptions options{.mesh = mesh};
  const auto compiled = compile(model.graph, options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  std::vector<runtime::HostTensor> inputs;
  const auto views = tools::bind_inputs(compiled->plan.program.entries[0], model.tensors);
  EXPECT_TRUE(views.ok()) << views.status().message();
  for (const runtime::HostTensorView& v : *views)
    inputs.push_back({row_major(v.type.dtype, v.type.shape), dense_bytes(v)});
  return {model.graph, options, std::move(inputs)};
}

std::vector<ExpectedTensor> expected_of(const SmallRun& run, const TensorFile& tensors) {
  std::vector<ExpectedTensor> list;
  for (const Port& port : run.entry().outputs)
    if (const auto it = tensors.find(port.name); it != tensors.end())
      list.push_back({port.name, {it->second.type, it->second.bytes.data()}});
  return list;
}

void expect_right(const Model& model, const std::string& mesh) {
  const SmallRun run = run_of(model, mesh);
  const std::vector<ExpectedTensor> expected = expected_of(run, model.tensors);
  const VerifyReport report = run.verify(expected);
  EXPECT_EQ(expected.size(), report.tensors.size());
  EXPECT_EQ(report.num_wrong, 0u) << mesh << "\n" << to_text(report);
  EXPECT_EQ(report.num_expected_wrong, 0u) << mesh << "\n" << to_text(report);
}

class NumPyModel : public ::testing::TestWithParam<const char*> {};
TEST_P(NumPyModel, IsRight) {
  const Model model = numpy_model(GetParam());
  for (const char* mesh : {"a=2,b=2", "a=3"}) expect_right(model, mesh);
}
INSTANTIATE_TEST_SUITE_P(Verify, NumPyModel,
                         ::testing::Values("ops", "vit", "bert", "experts", "loss"));

Model llama() {
  return pytorch_model("llama_tiny_2x4.graph.pre.json.gz", "llama_tiny_f32.safetensors");
}

TEST(PyTorchModel, IsRight) {
  for (const char* mesh : {"dp=2,tp=4", "dp=3"}) expect_right(llama(), mesh);
  expect_right(pytorch_model("gpt2_tiny_2x4.graph.pre.json.gz", "gpt2_tiny_f32.safetensors"),
               "dp=2,tp=2");
}

// Each tensor of a model in turn.
TEST(PyTorchModel, OnePercentIsFound) {
  Model model = llama();
  const SmallRun run = run_of(model, "dp=2,tp=2");
  std::vector<runtime::HostTensor> wrong;
  std::vector<ExpectedTensor> expected;
  for (const ExpectedTensor& e : expected_of(run, model.tensors)) {
    runtime::HostTensor& t = wrong.emplace_back();
    t = {e.tensor.type, dense_bytes(e.tensor)};
    std::vector<double> numbers = numbers_of(e.tensor);
    for (double& x : numbers) x *= 1.01;
    testing::overwrite(t, numbers);
  }
  size_t i = 0;
  for (const ExpectedTensor& e : expected_of(run, model.tensors))
    expected.push_back({e.name, testing::view(wrong[i++])});
  const VerifyReport report = run.verify(expected);
  EXPECT_EQ(report.num_wrong, 0u);
  EXPECT_EQ(report.num_expected_wrong, report.tensors.size());
}

}  // namespace
}  // namespace shw
