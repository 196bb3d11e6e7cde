// Compares attention on tensor cores (kernels/flash.cuh) with the CPU. There, attention weights are
// rounded to the operands' dtype, so results differ by a few units in its last place.
#include <gtest/gtest.h>

#include <limits>

#include "cuda/against_cpu.h"
#include "runtime/cuda/plugin/flash.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

struct Problem {
  int64_t batch = 1, heads = 2, key_heads = 2, queries = 70, keys = 70, width = 64,
          value_width = 64;
  bool causal = false;
  const Window* bias = nullptr;
  int64_t left = -1, right = -1;
};

Attrs attrs_of(const Problem& p) {
  Attrs attrs;
  attrs.set(AttrKey::kCausal, p.causal);
  attrs.set(AttrKey::kDropoutP, 0.0);
  attrs.set(AttrKey::kWindowLeft, p.left);
  attrs.set(AttrKey::kWindowRight, p.right);
  return attrs;
}

struct Tensors {
  Tensors(const Problem& p, Dtype dtype)
      : q(dtype, {p.batch, p.heads, p.queries, p.width}),
        k(dtype, {p.batch, p.key_heads, p.keys, p.width}),
        v(dtype, {p.batch, p.key_heads, p.keys, p.value_width}),
        out(dtype, {p.batch, p.heads, p.queries, p.value_width}),
        grad(dtype, {p.batch, p.heads, p.queries, p.value_width}),
        lse(Dtype::kF32, {p.batch, p.heads, p.queries}) {
    q.fill(cts::fractions(1));
    k.fill(cts::fractions(2));
    v.fill(cts::fractions(3));
    grad.fill(cts::fractions(4));
  }
  Window q, k, v, out, grad, lse;
};

class FlashTest : public testing::OnCuda {
 protected:
  void check(const Problem& p, Dtype dtype) {
    SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(p.queries) + " × " +
                 std::to_string(p.keys) + " × " + std::to_string(p.width));
    Tensors t(p, dtype);
    expect_as_on_the_cpu(*device_, "sdpa", {&t.q, &t.k, &t.v, p.bias}, {&t.out, &t.lse},
                         attrs_of(p), 4);
    Window dq = t.q, dk = t.k, dv = t.v;
    testing::Outputs wanted{&dq, &dk, &dv};
    expect_as_on_the_cpu(*device_, "sdpa_backward",
                         {&t.grad, &t.q, &t.k, &t.v, p.bias, &t.out, &t.lse}, wanted, attrs_of(p),
                         8);
  }
};

TEST_F(FlashTest, AgreesWithTheCpu) {
  for (Dtype dtype : {Dtype::kBF16, Dtype::kF16})
    for (bool causal : {false, true}) {
      SCOPED_TRACE(causal);
      check({.causal = causal}, dtype);
      check({.queries = 130, .keys = 40, .width = 128, .value_width = 128, .causal = causal},
            dtype);
      check({.queries = 40, .keys = 130, .width = 24, .value_width = 40, .causal = causal}, dtype);
      check({.queries = 1, .keys = 1, .width = 8, .value_width = 8, .causal = causal}, dtype);
    }
}

TEST_F(FlashTest, HeadsShareKeysAndValues) {
  for (bool causal : {false, true})
    check({.batch = 2, .heads = 4, .key_heads = 2, .queries = 33, .keys = 65, .causal = causal},
          Dtype::kBF16);
}

TEST_F(FlashTest, HasABias) {
  for (const Dims& shape : {Dims{1, 2, 70, 70}, Dims{70, 70}, Dims{70}, Dims{1, 2, 70, 1}}) {
    Window bias(Dtype::kBF16, shape);
    bias.fill(cts::fractions(5));
    for (bool causal : {false, true}) check({.causal = causal, .bias = &bias}, Dtype::kBF16);
  }
}

TEST_F(FlashTest, HasAWindow) {
  for (const auto& [left, right] :
       {std::pair<int64_t, int64_t>{40, 0}, {0, 0}, {5, 70}, {100, -1}, {-1, 3}}) {
    SCOPED_TRACE(std::to_string(left) + ", " + std::to_string(right));
    for (bool causal : {false, true})
      check({.queries = 200, .keys = 200, .causal = causal, .left = left, .right = right},
            Dtype::kBF16);
    check({.queries = 300, .keys = 90, .width = 128, .left = left, .right = right}, Dtype::kF16);
    check({.heads = 4, .queries = 90, .keys = 300, .left = left, .right = right}, Dtype::kBF16);
  }
}

TEST_F(FlashTest, GivesTheGradientOfABias) {
  Window bias(Dtype::kBF16, {1, 2, 70, 40}), dbias = bias;
  bias.fill(cts::fractions(5));
  for (const auto& [causal, left] : {std::pair<bool, int64_t>{false, -1}, {true, -1}, {true, 9}}) {
    const Problem p{.keys = 40, .causal = causal, .bias = &bias, .left = left};
    Tensors t(p, Dtype::kBF16);
    expect_as_on_the_cpu(*device_, "sdpa", {&t.q, &t.k, &t.v, p.bias}, {&t.out, &t.lse},
                         attrs_of(p), 4);
    Window dv = t.v;
    expect_as_on_the_cpu(*device_, "sdpa_backward",
                         {&t.grad, &t.q, &t.k, &t.v, p.bias, &t.out, &t.lse},
                         {nullptr, nullptr, &dv, &dbias}, attrs_of(p), 8);
  }
}

// A query that sees no key has zero weights and zero gradients.
TEST_F(FlashTest, AQueryThatSeesNothing) {
  Window bias(Dtype::kBF16, {70, 1});
  bias.fill([](int64_t i) { return i == 3 ? -std::numeric_limits<double>::infinity() : 0.0; });
  check({.bias = &bias}, Dtype::kBF16);
}

TEST_F(FlashTest, LogSumExpIsPadded) {
  const Problem p{.queries = 70};
  Tensors t(p, Dtype::kBF16);
  Window padded(Dtype::kF32, {1, 2, 96}), column(Dtype::kF32, {1, 2, 70, 1});
  expect_as_on_the_cpu(*device_, "sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &padded},
                       attrs_of(p), 4);
  expect_as_on_the_cpu(*device_, "sdpa", {&t.q, &t.k, &t.v, nullptr}, {nullptr, &column},
                       attrs_of(p), 4);
}

TEST_F(FlashTest, NothingToDo) {
  check({.queries = 0}, Dtype::kBF16);
  check({.keys = 0}, Dtype::kBF16);
}

// Rows with gaps, odd addresses or odd widths are computed by the kernels without tensor cores.
TEST_F(FlashTest, OtherLayoutsAreRightToo) {
  check({.width = 20, .value_width = 20}, Dtype::kBF16);
  check({.queries = 5, .keys = 6, .width = 136, .value_width = 8}, Dtype::kBF16);
  const Problem p{.queries = 10, .keys = 10};
  for (Lie lie : {Lie::kReversed, Lie::kGaps, Lie::kPadded}) {
    Tensors t(p, Dtype::kBF16);
    Window q(Dtype::kBF16, t.q.shape(), lie);
    q.fill(cts::fractions(1));
    expect_as_on_the_cpu(*device_, "sdpa", {&q, &t.k, &t.v, nullptr}, {&t.out, &t.lse}, attrs_of(p),
                         4);
  }
}

HeadWindow rows_of(int64_t columns, Dtype dtype) {
  return {{columns * 40, columns * 20, columns * 2, 2}, static_cast<int>(dtype)};
}

TEST(FlashShapes, SayWhatFits) {
  const auto of = [](int64_t columns, Dtype dtype) {
    AttentionArguments a{};
    a.batch = a.heads = a.key_heads = 1;
    a.queries = a.keys = 10;
    a.width = a.value_width = columns;
    a.q = a.k = a.v = a.out = rows_of(columns, dtype);
    return a;
  };
  EXPECT_TRUE(fits_flash(of(64, Dtype::kBF16)));
  EXPECT_TRUE(fits_flash(of(128, Dtype::kF16)));
  EXPECT_TRUE(fits_flash(of(8, Dtype::kBF16)));
  EXPECT_FALSE(fits_flash(of(64, Dtype::kF32)));
  EXPECT_FALSE(fits_flash(of(136, Dtype::kBF16)));
  EXPECT_FALSE(fits_flash(of(20, Dtype::kBF16)));
  AttentionArguments gaps = of(64, Dtype::kBF16);
  gaps.k.stride[3] = 4;
  EXPECT_FALSE(fits_flash(gaps));
  AttentionArguments odd = of(64, Dtype::kBF16);
  odd.v.stride[1] = 20 * 64 + 2;
  EXPECT_FALSE(fits_flash(odd));
  AttentionArguments wide_bias = of(64, Dtype::kBF16);
  wide_bias.has_bias = 1;
  wide_bias.bias = rows_of(64, Dtype::kF32);
  EXPECT_FALSE(fits_flash(wide_bias));
}

}  // namespace
}  // namespace shw::runtime::cuda
