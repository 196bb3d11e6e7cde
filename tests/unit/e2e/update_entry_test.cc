// An entry that updates LLaMA's parameters in place by SGD, with gradients from the caller. It
// needs no memory beside the parameters and gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "graph/text.h"
#include "graph/writer.h"
#include "plan/report.h"
#include "run_plan.h"
#include "runtime/null/channel.h"
#include "runtime/program_layout.h"
#include "simulate/live_bytes.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

using import::StoredTensor;
using import::TensorFile;

const TensorFile& tensors() {
  static const TensorFile file =
      *import::read_safetensors(SHW_TEST_DATA "/../../examples/data/llama_tiny_f32.safetensors");
  return file;
}

// The name "<fqn>" of every "param.<fqn>" in the file, which also holds a "grad.<fqn>" for each.
std::vector<std::string> parameters() {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors())
    if (name.starts_with("param.")) names.push_back(name.substr(6));
  return names;
}

// w -= 0.5 g for each parameter. `storage` is " {storage=state}", or empty if the caller holds the
// parameters.
std::vector<uint8_t> sgd(const std::string& storage) {
  std::string inputs, nodes, outputs;
  int n = 0;
  for (const std::string& name : parameters()) {
    const std::string id = std::to_string(n++);
    const std::string type = to_string(tensors().at("param." + name).type);
    inputs += "input param." + name + ": %w" + id + " : " + type + storage + "\n";
    inputs += "input input.grad." + name + ": %g" + id + " : " + type + "\n";
    nodes += "%n" + id + " = sub(%w" + id + ", %g" + id + ", alpha=0.5) : " + type + "\n";
    outputs += (n == 1 ? "" : ", ") + ("update." + name) + " = %n" + id + " in_place";
  }
  const auto graph = parse_graph(inputs + nodes + "return " + outputs + "\n");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? write_graph(*graph) : std::vector<uint8_t>();
}

class Sgd : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    CompileOptions options;
    options.mesh = std::get<0>(GetParam());
    plan_ = testing::planned(sgd(std::get<1>(GetParam())), options);
    ASSERT_NE(plan_, nullptr);
  }
  const ProgramEntry& entry() const { return plan_->program.entries[0]; }
  // The bytes of one rank's parameters and gradients.
  int64_t needed() const {
    const Program& p = plan_->program;
    return port_bytes(p, PortRole::kParameter) + port_bytes(p, PortRole::kInput);
  }
  std::shared_ptr<const Plan> plan_;
};
INSTANTIATE_TEST_SUITE_P(Meshes, Sgd,
                         ::testing::Combine(::testing::Values("a=1", "dp=2,tp=4", "a=2,b=2,c=2"),
                                            ::testing::Values("", " {storage=state}")),
                         [](const auto& c) {
                           return testing::test_name(std::get<0>(c.param)) +
                                  (std::get<1>(c.param)[0] != 0 ? "_state" : "_port");
                         });

TEST_P(Sgd, PlansParametersAndGradientsOnly) {
  EXPECT_EQ(plan_->program.arena_bytes, 0);
  EXPECT_EQ(plan_->summary.memory_program_bytes, needed());
  EXPECT_EQ(plan_->summary.memory_peak_bytes, needed());
  EXPECT_EQ(live_curves(plan_->program, entry()).device_peak, needed());
  EXPECT_EQ(port_bytes(plan_->program, PortRole::kParameter),
            port_bytes(plan_->program, PortRole::kInput))
      << "a gradient lies as its parameter does";
}

// A memory limit of exactly these bytes is sufficient.
TEST_P(Sgd, FitsIntoALimitOfParametersAndGradients) {
  CompileOptions options;
  options.mesh = std::get<0>(GetParam());
  options.memory_limit_bytes = needed();
  const auto plan = testing::planned(sgd(std::get<1>(GetParam())), options);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->summary.memory_peak_bytes, needed());
}

// Checks what an executor really allocates beside the parameters and gradients that the caller
// passes in.
TEST_P(Sgd, AllocatesParametersAndGradientsOnly) {
  const Program& p = plan_->program;
  const auto mesh = Mesh::create(p.mesh);
  ASSERT_TRUE(mesh.ok());
  const auto device = std::make_shared<runtime::null::NullDevice>();
  auto executor =
      runtime::Executor::create(plan_, device, runtime::null::make_channels(*device, *mesh, 0));
  ASSERT_TRUE(executor.ok()) << executor.status().message();
  std::vector<runtime::BufferRef> inputs, outputs(entry().outputs.size());
  for (size_t i = 0; i < entry().inputs.size(); ++i) {
    const auto bytes = runtime::port_bytes(p, p.input(entry(), i));
    auto buffer = runtime::Buffer::allocate(device, {bytes});
    ASSERT_TRUE(buffer.ok());
    inputs.push_back(*buffer);
  }
  const auto done = (*executor)->enqueue(entry(), inputs, outputs);
  ASSERT_TRUE(done.ok()) << done.status().message();
  ASSERT_TRUE(done->wait().ok());
  EXPECT_EQ(device->counts().launches, static_cast<int64_t>(parameters().size()));
  EXPECT_EQ(device->counts().peak_memory_bytes, needed());
}

TEST_P(Sgd, UpdatesEveryParameter) {
  TensorFile given;
  for (const std::string& name : parameters()) {
    given.emplace("param." + name, tensors().at("param." + name));
    given.emplace("input.grad." + name, tensors().at("grad." + name));
  }
  const auto ranks = testing::ranks_of(plan_);
  ASSERT_NE(ranks, nullptr);
  const auto done = tools::execute_on(*ranks, {"step"}, given);
  ASSERT_TRUE(done.ok()) << done.status().message();
  TensorFile updated = done->after;
  for (const auto& [name, tensor] : done->outputs)
    updated.emplace("param." + name.substr(7), tensor);
  const auto floats = [](const StoredTensor& t) {
    std::vector<float> v(t.bytes.size() / sizeof(float));
    std::copy(t.bytes.begin(), t.bytes.end(), reinterpret_cast<uint8_t*>(v.data()));
    return v;
  };
  ASSERT_EQ(updated.size(), parameters().size());
  for (const std::string& name : parameters()) {
    std::vector<float> w = floats(given.at("param." + name));
    const std::vector<float> g = floats(given.at("input.grad." + name));
    for (size_t i = 0; i < w.size(); ++i) w[i] -= 0.5f * g[i];
    EXPECT_EQ(floats(updated.at("param." + name)), w) << name;
  }
}

}  // namespace
}  // namespace shw
