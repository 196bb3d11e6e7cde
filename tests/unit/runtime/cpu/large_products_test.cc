// Kernels whose products are so large that `gemm` asks for scratch memory: in f32 they give what
// they give in f64, whose plain loops take none. Numbers are small integers: sums are exact.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/cpu/device.h"
#include "runtime/host_kernel.h"

namespace shw::runtime::cpu {
namespace {

struct LargeStep {
  std::string kernel;
  std::vector<Dims> inputs, outputs;
  Attrs attrs = {};
  std::vector<int32_t> ends = {};  // of groups: the last input
};

// All outputs, one after another.
template <class T>
std::vector<double> results_of(const LargeStep& step, Dtype dtype) {
  std::vector<TensorType> types;
  for (const Dims& shape : step.inputs) types.push_back(row_major(dtype, shape));
  if (!step.ends.empty())
    types.push_back(row_major(Dtype::kI32, {static_cast<int64_t>(step.ends.size())}));
  const size_t num_inputs = types.size();
  for (const Dims& shape : step.outputs) types.push_back(row_major(dtype, shape));
  std::vector<const TensorType*> in, out;
  for (size_t i = 0; i < types.size(); ++i) (i < num_inputs ? in : out).push_back(&types[i]);

  CpuDevice device;
  const Mesh mesh = *Mesh::parse("a=1");
  auto kernel = device.prepare(step.kernel, {in, out, step.attrs, mesh, 0});
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};

  std::vector<std::vector<T>> memory;
  std::vector<void*> buffers;
  for (size_t i = 0; i < types.size(); ++i) {
    std::vector<T>& values = memory.emplace_back(static_cast<size_t>(types[i].numel()));
    for (size_t e = 0; e < values.size(); ++e)
      values[e] = i < num_inputs ? static_cast<T>((e * 7 + e / 5 + i) % 9) - 4 : T{77};
    buffers.push_back(values.data());
  }
  std::vector<int32_t> ends = step.ends;
  if (!ends.empty()) buffers[num_inputs - 1] = ends.data();
  std::vector<std::byte> workspace(static_cast<size_t>((*kernel)->workspace_bytes()));
  buffers.push_back(workspace.data());
  const Status status = static_cast<HostKernel&>(**kernel).compute(buffers.data());
  EXPECT_TRUE(status.ok()) << status.message();

  std::vector<double> all;
  for (size_t i = num_inputs; i < types.size(); ++i)
    all.insert(all.end(), memory[i].begin(), memory[i].end());
  return all;
}

void expect_equal_results(const LargeStep& step) {
  SCOPED_TRACE(step.kernel);
  EXPECT_EQ(results_of<float>(step, Dtype::kF32), results_of<double>(step, Dtype::kF64));
}

TEST(LargeProducts, OfMatrices) {
  expect_equal_results({"mm", {{200, 150}, {150, 180}}, {{200, 180}}});
  expect_equal_results({"vector_mm", {{200, 150}, {150, 180}}, {{200, 180}}});
}

// Groups that are large, small and empty.
TEST(LargeProducts, OfGroups) {
  const std::vector<int32_t> ends{400, 400, 440, 600};
  expect_equal_results({"grouped_mm", {{610, 40}, {4, 40, 150}}, {{610, 150}}, {}, ends});
  expect_equal_results({"grouped_mm", {{4, 150, 40}, {40, 610}}, {{150, 610}}, {}, ends});
  expect_equal_results({"grouped_mm", {{150, 610}, {610, 140}}, {{4, 150, 140}}, {}, ends});
  expect_equal_results({"grouped_mm", {{2, 150, 40}, {2, 40, 160}}, {{2, 150, 160}}});
}

TEST(LargeProducts, OfConvolutions) {
  Attrs attrs;
  for (const AttrKey key : {AttrKey::kStride, AttrKey::kDilation})
    attrs.set(key, std::vector<int64_t>{1, 1});
  attrs.set(AttrKey::kPadding, std::vector<int64_t>{1, 1});
  const Dims input{2, 20, 12, 13}, weight{150, 20, 3, 3}, result{2, 150, 12, 13};
  expect_equal_results({"convolution", {input, weight}, {result}, attrs});
  expect_equal_results(
      {"convolution_backward", {result, input, weight}, {input, weight, {150}}, attrs});
}

}  // namespace
}  // namespace shw::runtime::cpu
