// Operands that kernels must refuse. Plans come from outside. A kernel that does not check its
// operands would read or write outside their memory.
#include <gtest/gtest.h>

#include "runtime/cpu/device.h"

namespace shw::runtime::cpu {
namespace {

struct Step {
  std::string kernel;
  std::vector<TensorType> inputs, outputs;
  Attrs attrs = {};

  Status prepare() const {
    std::vector<const TensorType*> in, out;
    for (const TensorType& t : inputs) in.push_back(&t);
    for (const TensorType& t : outputs) out.push_back(&t);
    const Mesh mesh = *Mesh::parse("a=1");
    return CpuDevice().prepare(kernel, {in, out, attrs, mesh, 0}).status();
  }
};

TensorType f32(Dims shape) { return row_major(Dtype::kF32, shape); }
TensorType f64(Dims shape) { return row_major(Dtype::kF64, shape); }
TensorType i64(Dims shape) { return row_major(Dtype::kI64, shape); }
Attrs attr(AttrKey key, AttrValue value) {
  Attrs attrs;
  attrs.set(key, std::move(value));
  return attrs;
}

// The workspace comes after the results.
TEST(Operands, ASecondResultOfAKernelThatHasOneIsRefused) {
  const Step steps[] = {
      {"mm", {f32({2, 3}), f32({3, 4})}, {f32({2, 4})}},
      {"einsum",
       {f32({2, 3}), f32({3, 4})},
       {f32({2, 4})},
       attr(AttrKey::kEquation, std::string("mk,kn->mn"))},
      {"addmm", {f32({4}), f32({2, 3}), f32({3, 4})}, {f32({2, 4})}},
      {"grouped_mm", {f32({2, 2, 3}), f32({2, 3, 4})}, {f32({2, 2, 4})}},
      {"convolution", {f32({1, 2, 5}), f32({3, 2, 2})}, {f32({1, 3, 4})}},
      {"embedding_dense_backward", {f32({3, 4}), i64({3})}, {f32({5, 4})}},
      {"embedding", {f32({5, 4}), i64({3})}, {f32({3, 4})}},
      {"softmax", {f32({2, 3})}, {f32({2, 3})}},
      {"sum", {f32({2, 3})}, {f32({})}},
      {"add", {f32({2}), f32({2})}, {f32({2})}},
      {"relu", {f32({2})}, {f32({2})}},
      {"mul_pairs", {f64({3, 2}), f64({3, 2})}, {f64({3, 2})}},
      {"conj_pairs", {f64({3, 2})}, {f64({3, 2})}},
  };
  for (Step step : steps) {
    EXPECT_TRUE(step.prepare().ok()) << step.kernel << ": " << step.prepare().message();
    step.outputs.push_back(step.outputs[0]);
    EXPECT_EQ(step.prepare().code(), Code::kInvalidArgument) << step.kernel;
  }
}

TEST(Operands, AThirdOperandWhereTheResultShouldBeIsRefused) {
  for (Step step : {Step{"mul_pairs", {f64({3, 2}), f64({3, 2})}, {f64({3, 2})}},
                    Step{"conj_pairs", {f64({3, 2})}, {f64({3, 2})}}}) {
    EXPECT_TRUE(step.prepare().ok()) << step.kernel;
    step.inputs.push_back(f64({1}));
    EXPECT_EQ(step.prepare().code(), Code::kInvalidArgument) << step.kernel;
  }
}

TEST(Operands, MoreDimsThanATensorHasAreRefused) {
  const Step step{"fused_rms_norm",
                  {f32({2, 3})},
                  {f32({2, 3}), f32({2, 1})},
                  attr(AttrKey::kNormalizedShape, std::vector<int64_t>(40, 3))};
  EXPECT_EQ(step.prepare().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::runtime::cpu
