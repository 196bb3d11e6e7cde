// Correct runs of whole models pass verification, also when compared with values of PyTorch and
// NumPy. Values that differ by 1 % do not pass.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "import/safetensors.h"
#include "packed.h"
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

std::vector<uint8_t> imported(const std::string& path) {
  const auto json = import::read_json_file(path);
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

Model pytorch_model(const std::string& graph_file, const std::string& tensors_file,
                    const std::string& below = "/../../examples/data/") {
  const std::string folder = SHW_TEST_DATA + below;
  const auto tensors = import::read_safetensors(folder + tensors_file);
  EXPECT_TRUE(tensors.ok()) << tensors_file;
  return {imported(folder + graph_file), *tensors};
}

SmallRun run_of(const Model& model, const std::string& mesh) {
  Monitor monitor;
  CompileOptions options{.mesh = mesh};
  const auto compiled = testing::compile_packed(model.graph, options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  std::vector<runtime::HostTensor> inputs;
  const auto views =
      tools::bind_inputs(compiled->plan.program, compiled->plan.program.entries[0], model.tensors);
  EXPECT_TRUE(views.ok()) << views.status().message();
  for (const runtime::HostTensorView& v : *views)
    inputs.push_back({row_major(v.type.dtype, v.type.shape), dense_bytes(v)});
  return {model.graph, options, std::move(inputs)};
}

std::vector<ExpectedTensor> expected_of(const SmallRun& run, const TensorFile& tensors) {
  std::vector<ExpectedTensor> list;
  for (const Port& port : run.program().ports)
    if (const auto it = tensors.find(port.name); !is_input(port.role) && it != tensors.end())
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

// Layer norms that PyTorch traced on a CPU. There mean and rstd have the type of the input.
class LayerNormOfType : public ::testing::TestWithParam<const char*> {};
TEST_P(LayerNormOfType, IsRight) {
  const std::string stem = std::string("norms_") + GetParam();
  const Model model = pytorch_model(stem + ".graph.json.gz", stem + ".safetensors", "/zoo/");
  for (const char* mesh : {"a=2,b=2", "a=3"}) expect_right(model, mesh);
}
INSTANTIATE_TEST_SUITE_P(Verify, LayerNormOfType, ::testing::Values("bf16", "f16", "f64"));

// Damages each tensor of a model in turn.
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

// Models that fixed tolerances would reject: BERT (gradients of key biases, which are zero in exact
// arithmetic), Apertus (the gradient of a scalar, which cancels), and Qwen2 (bf16).
class ZooModel : public ::testing::TestWithParam<const char*> {};
TEST_P(ZooModel, IsRight) {
  const std::string path =
      std::string(SHW_TEST_DATA) + "/graphs/" + GetParam() + ".graph.pre.json.gz";
  for (const char* mesh : {"a=4,b=2", "a=3"}) {
    const SmallRun run(imported(path), {.mesh = mesh});
    const VerifyReport report = run.verify();
    EXPECT_GT(report.tensors.size(), 20u);
    EXPECT_EQ(report.num_wrong, 0u) << mesh << "\n" << to_text(report);
  }
}
INSTANTIATE_TEST_SUITE_P(Verify, ZooModel, ::testing::Values("bert_mlm", "apertus", "qwen2_bf16"));

// A correct run in bf16, with every product summed over the ranks, must pass. A tensor with many
// elements that is made 1 % larger must not pass, unless rounding alone makes it more than 1.5 %
// wrong.
TEST(Bf16Model, OnePercentIsFound) {
  const std::string path = std::string(SHW_TEST_DATA) + "/graphs/qwen2_bf16.graph.pre.json.gz";
  CompileOptions options{.mesh = "a=4"};
  options.pins = {{"op:einsum", "P"}};
  SmallRun run(imported(path), options);
  const VerifyReport right = run.verify();
  EXPECT_EQ(right.num_wrong, 0u) << to_text(right);
  std::vector<std::string> damaged;
  for (const VerifiedTensor& t : right.tensors) {
    if (t.type.numel() < 1000 || t.noise > 0.015) continue;
    damaged.push_back(t.name);
    run.damage(t.name, [](std::vector<double>& v) {
      for (double& x : v) x *= 1.01;
    });
  }
  EXPECT_GE(damaged.size(), 5u);
  const VerifyReport wrong = run.verify();
  std::vector<std::string> found;
  for (const VerifiedTensor& t : wrong.tensors)
    if (t.sharded.verdict != Verdict::kRight) found.push_back(t.name);
  EXPECT_EQ(found, damaged) << to_text(wrong);
}

}  // namespace
}  // namespace shw
