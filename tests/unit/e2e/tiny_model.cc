#include "tiny_model.h"

#include <gtest/gtest.h>

#include "compare.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "import/safetensors.h"
#include "run_plan.h"
#include "tools/execute.h"

namespace shw::testing {
namespace {

const std::string kExamples = std::string(SHW_TEST_DATA) + "/../../examples/data/";

Graph imported(const std::string& file) {
  const auto json = import::read_json_file(kExamples + file);
  EXPECT_TRUE(json.ok()) << json.status().message();
  auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

}  // namespace

std::vector<uint8_t> TinyModel::graph_bytes() const { return write_graph(imported(graph_file_)); }

Graph TinyModel::rewritten(const RewriteOptions& options) const {
  auto graph = run_rewrites(imported(graph_file_), options);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::vector<std::string> TinyModel::nodes(OpKind op, Phase phase,
                                          const std::string& module_suffix) const {
  const Graph graph = rewritten();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    if (graph.op(n) == op && graph.meta(n).phase == phase &&
        graph.meta(n).module_path.ends_with(module_suffix))
      names.push_back(graph.name(n));
  }
  EXPECT_FALSE(names.empty()) << op_name(op) << " in " << module_suffix;
  return names;
}

std::shared_ptr<const Plan> TinyModel::plan_of(const CompileOptions& options) const {
  return planned(graph_bytes(), options);
}

const import::TensorFile& TinyModel::tensors() const {
  if (tensors_.empty()) {
    auto file = import::read_safetensors(kExamples + tensors_file_);
    EXPECT_TRUE(file.ok()) << file.status().message();
    if (file.ok()) tensors_ = std::move(*file);
  }
  return tensors_;
}

const import::TensorFile& TinyModel::unsharded() const {
  if (unsharded_.empty()) {
    const auto single = plan_of({.mesh = "one=1"});
    auto results = single ? tools::execute(single, "step", tensors())
                          : Result<import::TensorFile>(internal_error("no plan"));
    EXPECT_TRUE(results.ok()) << results.status().message();
    if (results.ok()) unsharded_ = std::move(*results);
  }
  return unsharded_;
}

CompileOptions TinyCase::options() const {
  CompileOptions o;
  o.mesh = mesh;
  o.input_layout = input_layout;
  o.output_layout = output_layout;
  o.parameter_budget.kind = budget;
  o.pins = pins;
  o.strided = strided;
  o.einsum = !strided;
  return o;
}

void TinyModel::expect_pytorchs(const CompileOptions& options, size_t results) const {
  const auto plan = plan_of(options);
  ASSERT_TRUE(plan);
  const auto sharded = tools::execute(plan, "step", tensors());
  ASSERT_TRUE(sharded.ok()) << sharded.status().message();
  const auto pytorch = testing::compare(*sharded, tensors(), 2e-5),
             self = testing::compare(*sharded, unsharded(), 5e-6);
  EXPECT_EQ(pytorch.num_compared, results);
  EXPECT_EQ(self.num_compared, results);
  EXPECT_EQ(pytorch.num_bad, 0u) << pytorch.worst_name;
  EXPECT_EQ(self.num_bad, 0u) << self.worst_name;
  const auto again = tools::execute(plan, "step", tensors());
  ASSERT_TRUE(again.ok());
  for (const auto& [name, t] : *again) EXPECT_EQ(t.bytes, sharded->at(name).bytes) << name;
}

const TinyModel& llama_tiny() {
  static const TinyModel model("llama_tiny_2x4.graph.pre.json.gz", "llama_tiny_f32.safetensors");
  return model;
}
const TinyModel& gpt2_tiny() {
  static const TinyModel model("gpt2_tiny_2x4.graph.pre.json.gz", "gpt2_tiny_f32.safetensors");
  return model;
}

std::string test_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

}  // namespace shw::testing
