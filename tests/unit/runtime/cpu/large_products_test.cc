// Kernels with products so large that `gemm` asks for scratch memory. In f32, and from bf16 to f32,
// they must give the same result as in f64, whose plain loops need no scratch. Values are small
// integers, so sums are exact.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/cpu/device.h"
#include "runtime/half.h"
#include "runtime/host_kernel.h"

namespace shw::runtime::cpu {
namespace {

struct LargeStep {
  std::string kernel;
  std::vector<Dims> inputs, outputs;
  Attrs attrs = {};
  std::vector<int32_t> ends = {};  // ends of groups: the last input
};

// A bf16 number as its bits.
struct Bits {
  explicit Bits(double x = 0) : bits(f32_to_bf16(static_cast<float>(x))) {}
  uint16_t bits;
};

// All outputs, one after another. `In` is the C++ type of the inputs, whose dtype is `from`.
template <class T, class In = T>
std::vector<double> results_of(const LargeStep& step, Dtype dtype, Dtype from) {
  std::vector<TensorType> types;
  for (const Dims& shape : step.inputs) types.push_back(row_major(from, shape));
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

  std::vector<std::vector<In>> inputs;
  std::vector<std::vector<T>> outputs;
  std::vector<void*> buffers;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto size = static_cast<size_t>(types[i].numel());
    if (i >= num_inputs) {
      buffers.push_back(outputs.emplace_back(size, T{77}).data());
      continue;
    }
    std::vector<In>& values = inputs.emplace_back(size);
    for (size_t e = 0; e < size; ++e)
      values[e] = In(static_cast<double>((e * 7 + e / 5 + i) % 9) - 4);
    buffers.push_back(values.data());
  }
  std::vector<int32_t> ends = step.ends;
  if (!ends.empty()) buffers[num_inputs - 1] = ends.data();
  std::vector<std::byte> workspace(static_cast<size_t>((*kernel)->workspace_bytes()));
  buffers.push_back(workspace.data());
  const Status status = static_cast<HostKernel&>(**kernel).compute(buffers.data());
  EXPECT_TRUE(status.ok()) << status.message();

  std::vector<double> all;
  for (const std::vector<T>& values : outputs) all.insert(all.end(), values.begin(), values.end());
  return all;
}

void expect_equal_results(const LargeStep& step) {
  SCOPED_TRACE(step.kernel);
  const std::vector<double> want = results_of<double>(step, Dtype::kF64, Dtype::kF64);
  EXPECT_EQ((results_of<float>(step, Dtype::kF32, Dtype::kF32)), want);
  EXPECT_EQ((results_of<float, Bits>(step, Dtype::kF32, Dtype::kBF16)), want);
}

TEST(LargeProducts, OfMatrices) {
  expect_equal_results({"mm", {{200, 150}, {150, 180}}, {{200, 180}}});
  expect_equal_results({"vector_mm", {{200, 150}, {150, 180}}, {{200, 180}}});
  const auto einsum = [](const char* equation, const Dims& a, const Dims& b, const Dims& result) {
    SCOPED_TRACE(equation);
    Attrs attrs;
    attrs.set(AttrKey::kEquation, std::string(equation));
    expect_equal_results({"einsum", {a, b}, {result}, attrs});
  };
  einsum("abk,kn->abn", {3, 70, 150}, {150, 180}, {3, 70, 180});
  einsum("abk,nk->abn", {3, 70, 150}, {180, 150}, {3, 70, 180});
  einsum("abm,abn->mn", {3, 70, 150}, {3, 70, 180}, {150, 180});
  einsum("gmk,gkn->gmn", {3, 130, 50}, {3, 50, 140}, {3, 130, 140});
  einsum("gkm,gkn->gnm", {3, 50, 130}, {3, 50, 140}, {3, 140, 130});
  einsum("mgk,kgn->mgn", {130, 3, 50}, {50, 3, 140}, {130, 3, 140});
}

// Large, small and empty groups.
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
