#include "small_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/tensors.h"
#include "verify/numbers.h"

namespace shw::testing {

using runtime::HostTensor;
using runtime::HostTensorView;

namespace {
// A complex number counts as two numbers.
size_t num_numbers(const TensorType& t) {
  return static_cast<size_t>(t.numel()) * (is_complex(t.dtype) ? 2 : 1);
}
}  // namespace

HostTensorView view(const HostTensor& t) { return {t.type, t.data.data()}; }

std::vector<double> normal_numbers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& x : numbers) x = normal(random);
  return numbers;
}

void overwrite(HostTensor& t, const std::vector<double>& numbers) {
  ASSERT_EQ(numbers.size(), num_numbers(t.type));
  const Dtype stored = is_complex(t.type.dtype) ? Dtype::kF32 : t.type.dtype;
  for (size_t i = 0; i < numbers.size(); ++i)
    set(t.data.data(), stored, static_cast<int64_t>(i), numbers[i]);
}

SmallRun::SmallRun(const std::string& text, const CompileOptions& options,
                   const std::function<void(Program&)>& change) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return;
  compile_graph(write_graph(*graph), options, change);
  if (plan_ == nullptr) return;
  fill_inputs();
  run();
}

SmallRun::SmallRun(const std::vector<uint8_t>& graph, const CompileOptions& options) {
  compile_graph(graph, options, {});
  if (plan_ == nullptr) return;
  fill_inputs();
  run();
}

SmallRun::SmallRun(const std::vector<uint8_t>& graph, const CompileOptions& options,
                   std::vector<HostTensor> inputs)
    : inputs_(std::move(inputs)) {
  compile_graph(graph, options, {});
  if (plan_ != nullptr) run();
}

void SmallRun::compile_graph(const std::vector<uint8_t>& graph, const CompileOptions& options,
                             const std::function<void(Program&)>& change) {
  Monitor monitor;
  auto compiled = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto plan = read_plan(compiled->bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  if (change) change(plan->program);
  plan_ = std::make_shared<const Plan>(std::move(*plan));
}

void SmallRun::fill_inputs() {
  for (PortId id : entry().inputs) {
    const Port& port = program().ports[id];
    HostTensor& t = inputs_.emplace_back();
    t.type = port.global;
    t.data.resize(static_cast<size_t>(t.type.bytes()));
    std::vector<double> numbers = normal_numbers(num_numbers(t.type), inputs_.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!is_floating(t.type.dtype) && !is_complex(t.type.dtype))
        numbers[i] = static_cast<double>(i % 2);
      else if (port.name.starts_with("param.") && t.type.rank() == 1)
        numbers[i] = 1 + numbers[i] / 8;
      else if (port.name.starts_with("param.") && t.type.rank() > 1)
        numbers[i] /= std::sqrt(static_cast<double>(t.type.shape[0]));
    }
    overwrite(t, numbers);
  }
}

HostTensor& SmallRun::input(const std::string& name) {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (program().input(entry(), i).name == name) return inputs_[i];
  ADD_FAILURE() << "no input " << name;
  return inputs_[0];
}

HostTensor& SmallRun::output(const std::string& name) {
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (program().output(entry(), i).name == name) return outputs_[i];
  ADD_FAILURE() << "no output " << name;
  return outputs_[0];
}

void SmallRun::run() {
  auto ranks = runtime::VirtualRanks::create(plan_);
  ASSERT_TRUE(ranks.ok()) << ranks.status().message();
  std::vector<HostTensorView> views;
  for (const HostTensor& t : inputs_) views.push_back(view(t));
  auto outputs = (*ranks)->run(entry().name, views);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  outputs_ = std::move(*outputs);
}

void SmallRun::damage(const std::string& name, const Damage& damage) {
  HostTensor& t = output(name);
  std::vector<double> numbers = numbers_of(view(t));
  damage(numbers);
  overwrite(t, numbers);
}

VerifyReport SmallRun::verify(const std::vector<ExpectedTensor>& expected) const {
  std::vector<HostTensorView> in, out;
  for (const HostTensor& t : inputs_) in.push_back(view(t));
  for (const HostTensor& t : outputs_) out.push_back(view(t));
  Monitor monitor;
  const auto report = verify_run(*plan_, in, out, expected, {}, monitor);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? *report : VerifyReport{};
}

VerifiedTensor SmallRun::verified(const std::string& name) const {
  for (const VerifiedTensor& t : verify().tensors)
    if (t.name == name) return t;
  ADD_FAILURE() << "no output " << name;
  return {};
}

}  // namespace shw::testing
