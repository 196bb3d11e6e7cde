// Compares attention by cuDNN with the CPU. It runs on a GPU, or on the fake, which computes the
// same graphs operation by operation. Attention weights are rounded to the operands' dtype, so
// results differ by a few units in its last place.
#include <gtest/gtest.h>

#include "cuda/against_cpu.h"
#include "runtime/cuda/plugin/attention_cudnn.h"
#include "runtime/cuda/plugin/context.h"
#include "runtime/cuda/plugin/device.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;
using testing::fake_alive;
using testing::fake_calls;
using testing::Injected;
using testing::run_kernel;

// By default large enough that cuDNN is used.
struct Attention {
  int64_t batch = 1, heads = 4, key_heads = 4, queries = 256, keys = 256, width = 16;
  bool causal = true;
  Dtype dtype = Dtype::kBF16;
  int64_t left = -1;
  const Window* bias = nullptr;

  Attrs attrs() const {
    Attrs a;
    a.set(AttrKey::kCausal, causal);
    a.set(AttrKey::kDropoutP, 0.0);
    a.set(AttrKey::kWindowLeft, left);
    return a;
  }
};

struct Operands {
  explicit Operands(const Attention& a, Lie lie = Lie::kDense)
      : q(a.dtype, {a.batch, a.heads, a.queries, a.width}, lie),
        k(a.dtype, {a.batch, a.key_heads, a.keys, a.width}),
        v(a.dtype, {a.batch, a.key_heads, a.keys, a.width}),
        out(a.dtype, {a.batch, a.heads, a.queries, a.width}),
        grad(a.dtype, {a.batch, a.heads, a.queries, a.width}),
        lse(Dtype::kF32, {a.batch, a.heads, a.queries}) {
    q.fill(cts::fractions(1));
    k.fill(cts::fractions(2));
    v.fill(cts::fractions(3));
    grad.fill(cts::fractions(4));
  }
  Window q, k, v, out, grad, lse;
};

class CudnnAttentionTest : public testing::OnCuda {
 protected:
  void check_forward(const Attention& a, Operands& t) {
    expect_as_on_the_cpu(*device_, "sdpa", {&t.q, &t.k, &t.v, a.bias}, {&t.out, &t.lse}, a.attrs(),
                         4);
  }
  void check_backward(const Attention& a, Operands& t) {
    Window dq = t.q, dk = t.k, dv = t.v;
    expect_as_on_the_cpu(*device_, "sdpa_backward",
                         {&t.grad, &t.q, &t.k, &t.v, a.bias, &t.out, &t.lse}, {&dq, &dk, &dv},
                         a.attrs(), 8);
  }
  static void expect_calls(int count) {
    if (testing::is_on_gpu()) return;
    EXPECT_EQ(fake_calls("cudnnBackendExecute"), count);
  }
  // Checks forward and backward, and that `by_cudnn` launches are cuDNN's.
  void check(const Attention& a, int by_cudnn, Lie lie = Lie::kDense) {
    SCOPED_TRACE(std::string(dtype_name(a.dtype)) + " " + std::to_string(a.queries) + " × " +
                 std::to_string(a.keys) + " × " + std::to_string(a.width) + ", heads " +
                 std::to_string(a.heads) + "/" + std::to_string(a.key_heads) +
                 (a.causal ? ", causal" : ""));
    Operands t(a, lie);
    const int before = fake_calls("cudnnBackendExecute");
    check_forward(a, t);
    check_backward(a, t);
    expect_calls(before + by_cudnn);
  }
};

TEST_F(CudnnAttentionTest, AgreesWithTheCpu) {
  for (bool causal : {true, false}) {
    check({.causal = causal}, 2);
    check({.key_heads = 2, .width = 64, .causal = causal}, 2);
    check({.key_heads = 1, .causal = causal, .dtype = Dtype::kF16}, 2);
    check({.batch = 2, .queries = 128, .keys = 300, .width = 24, .causal = causal}, 2);
    check({.batch = 3, .queries = 330, .keys = 70, .width = 128, .causal = causal}, 2);
  }
}

TEST_F(CudnnAttentionTest, WithoutTheLogarithms) {
  const Attention a;
  Operands t(a);
  const int before = fake_calls("cudnnBackendExecute");
  expect_as_on_the_cpu(*device_, "sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out}, a.attrs(), 4);
  expect_calls(before + 1);
}

TEST_F(CudnnAttentionTest, WhatItDoesNotKnowIsRightToo) {
  check({.queries = 40, .keys = 40}, 0);                 // too few queries and keys
  check({.left = 100}, 0);                               // a window
  check({.queries = 128, .keys = 512, .width = 20}, 0);  // rows that are no multiple of 16 bytes
  Window bias(Dtype::kBF16, {256});
  bias.fill(cts::fractions(5));
  check({.bias = &bias}, 0);
  check({}, 0, Lie::kPadded);  // rows are no multiple of 16 bytes here, too
}

TEST(CudnnAttentionPlans, StepsAlikeShareOne) {
  SHW_ON_FAKES_ONLY();
  const auto context = Context::open({.folder = SHW_FAKES});
  ASSERT_TRUE(context.ok());
  AttentionArguments a{};
  a.batch = a.key_heads = 1;
  a.heads = 4;
  a.queries = a.keys = 256;
  a.left = a.right = 256;
  a.width = a.value_width = 64;
  a.q = a.k = a.v = a.out = {{4 * 256 * 128, 256 * 128, 128, 2}, static_cast<int>(Dtype::kBF16)};
  const auto makes = [&](auto& kept) {
    const int before = fake_calls("cudnnBackendFinalize");
    kept = AttentionByCudnn::create(**context, a, false);
    EXPECT_NE(kept, nullptr);
    return fake_calls("cudnnBackendFinalize") > before;
  };
  std::unique_ptr<AttentionByCudnn> first, second, other;
  EXPECT_TRUE(makes(first));
  EXPECT_FALSE(makes(second));
  a.scale = 2;
  EXPECT_TRUE(makes(other));
  a.scale = 0;
  first.reset();
  second.reset();
  EXPECT_TRUE(makes(first));  // a plan that no step holds any more is destroyed
}

TEST_F(CudnnAttentionTest, WhereResultsMustRepeatOnlyTheForwardPassIsCudnns) {
  SHW_ON_FAKES_ONLY();
  auto device = CudaDevice::open({.folder = SHW_FAKES, .deterministic = true});
  ASSERT_TRUE(device.ok()) << device.status().message();
  device_ = *device;
  check({}, 1);
}

TEST_F(CudnnAttentionTest, OlderVersionsAreNotAsked) {
  SHW_ON_FAKES_ONLY();
  const Injected old("cudnnGetVersion", 90700);
  auto device = CudaDevice::open({.folder = SHW_FAKES});
  ASSERT_TRUE(device.ok());
  device_ = *device;
  check({}, 0);
}

// If cuDNN refuses a graph, other kernels are used instead. A call that fails during a run is an
// error.
TEST_F(CudnnAttentionTest, FailuresOfAnyCall) {
  SHW_ON_FAKES_ONLY();
  const Attention a;
  Operands t(a);
  device_.reset();
  const int alive = fake_alive();
  SetUp();
  for (const char* function : {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
                               "cudnnBackendFinalize", "cudnnBackendGetAttribute"})
    for (int after : {0, 1}) {
      SCOPED_TRACE(function);
      const Injected failure(function, 4000, after);
      const int before = fake_calls("cudnnBackendExecute");
      check_forward(a, t);
      EXPECT_EQ(fake_calls("cudnnBackendExecute"), before);
    }
  {
    const Injected failure("cudnnBackendExecute", 5000);
    const Status status =
        run_kernel(*device_, "sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &t.lse}, a.attrs());
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_NE(status.message().find("5000"), std::string::npos) << status.message();
  }
  device_.reset();
  EXPECT_EQ(fake_alive(), alive);
}

}  // namespace
}  // namespace shw::runtime::cuda
