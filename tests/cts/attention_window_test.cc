// Attention within a sliding window. It must equal attention with a bias of −∞ for each key outside
// the window of a query.
#include <algorithm>
#include <limits>

#include "cts/attention_window.h"
#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

struct Sliding {
  int64_t queries = 9, keys = 9, left = -1, right = -1, heads = 2, key_heads = 2;
  bool causal = false, with_bias = false;
  std::vector<int64_t> ends = {};  // ends of the documents, beginning with 0
  Dtype dtype = Dtype::kF64;
  Lie lie = Lie::kDense;

  bool sees(int64_t i, int64_t j) const {
    const auto document = [&](int64_t at) {
      return std::upper_bound(ends.begin(), ends.end(), at) - ends.begin();
    };
    return in_window(i, j, causal, left, right) && document(i) == document(j);
  }
  bool sees_nothing(int64_t i) const {
    for (int64_t j = 0; j < keys; ++j)
      if (sees(i, j)) return false;
    return true;
  }
  Attrs attrs() const { return window_attrs(causal, left, right); }
};

struct SlidingTensors {
  explicit SlidingTensors(const Sliding& s)
      : q(s.dtype, {2, s.heads, s.queries, 8}, s.lie),
        k(s.dtype, {2, s.key_heads, s.keys, 8}, s.lie),
        v(s.dtype, {2, s.key_heads, s.keys, 16}, s.lie),
        bias(s.dtype, {2, s.heads, s.queries, s.keys}),
        grad(s.dtype, {2, s.heads, s.queries, 16}, s.lie),
        out(s.dtype, grad.shape()),
        lse(s.dtype == Dtype::kF64 ? s.dtype : Dtype::kF32, {2, s.heads, s.queries}),
        dq(s.dtype, q.shape()),
        dk(s.dtype, k.shape()),
        dv(s.dtype, v.shape()),
        dbias(s.dtype, bias.shape()),
        documents(Dtype::kI32, {2, static_cast<int64_t>(s.ends.size())}) {
    q.fill(fractions(1));
    k.fill(fractions(2));
    v.fill(fractions(3));
    bias.fill(s.with_bias ? fractions(4) : [](int64_t) { return Number(0); });
    grad.fill(fractions(5));
    documents.fill([&](int64_t i) {
      return static_cast<double>(s.ends[static_cast<size_t>(i) % s.ends.size()]);
    });
  }
  Window q, k, v, bias, grad, out, lse, dq, dk, dv, dbias, documents;
};

class AttentionWindowTest : public KernelTest {
 protected:
  void run_both(SlidingTensors& t, const Window* bias, const Window* documents, const Attrs& a) {
    run_ok({"sdpa", {&t.q, &t.k, &t.v, bias, documents}, {&t.out, &t.lse}, a});
    run_ok({"sdpa_backward",
            {&t.grad, &t.q, &t.k, &t.v, bias, &t.out, &t.lse, nullptr, nullptr, documents},
            {&t.dq, &t.dk, &t.dv, bias != nullptr ? &t.dbias : nullptr},
            a});
  }

  void expect_masked(const Sliding& s, double relative) {
    SCOPED_TRACE(std::to_string(s.queries) + " × " + std::to_string(s.keys) + ", " +
                 std::to_string(s.left) + ", " + std::to_string(s.right) +
                 (s.causal ? ", causal " : " ") + std::string(dtype_name(s.dtype)));
    SlidingTensors masked(s), window(s);
    for_each_index(masked.bias.shape(), [&](const Index& i) {
      if (!s.sees(i[2], i[3])) masked.bias.set(i, kHidden);
    });
    run_both(masked, &masked.bias, nullptr, {});
    run_both(window, s.with_bias ? &window.bias : nullptr,
             s.ends.empty() ? nullptr : &window.documents, s.attrs());
    std::vector<std::pair<const Window*, const Window*>> pairs = {{&window.out, &masked.out},
                                                                  {&window.dq, &masked.dq},
                                                                  {&window.dk, &masked.dk},
                                                                  {&window.dv, &masked.dv}};
    if (s.with_bias) pairs.emplace_back(&window.dbias, &masked.dbias);
    for (size_t n = 0; n < pairs.size(); ++n) {
      SCOPED_TRACE(n);
      const Window* want = pairs[n].second;
      expect_elements(
          *pairs[n].first, [want](const Index& i) { return want->get(i); }, relative);
    }
    for_each_index(window.lse.shape(), [&](const Index& i) {
      const double got = window.lse.get(i).real(), want = masked.lse.get(i).real();
      if (s.sees_nothing(i[2]))
        EXPECT_EQ(got, kHidden);
      else
        EXPECT_NEAR(got, want, relative * 8);
    });
  }
};

TEST_P(AttentionWindowTest, IsAMask) {
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{9, 9}, {4, 9}, {9, 4}})
    for (const auto& [left, right] :
         {std::pair<int64_t, int64_t>{2, 1}, {0, 0}, {-1, 2}, {3, -1}, {20, 20}, {2, 0}})
      for (bool causal : {false, true}) {
        Sliding s{.queries = queries, .keys = keys, .left = left, .right = right, .causal = causal};
        expect_masked(s, 1e-14);
        s.heads = 4;
        s.with_bias = true;
        expect_masked(s, 1e-14);
        s.lie = Lie::kGaps;
        s.dtype = Dtype::kF32;
        expect_masked(s, 2e-6);
      }
}

TEST_P(AttentionWindowTest, IsAMaskOfSequencesLongerThanABlock) {
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{140, 140}, {40, 200}, {200, 40}})
    for (const auto& [left, right] : {std::pair<int64_t, int64_t>{17, 5}, {64, 0}}) {
      if (shw::testing::kSanitized && left != 17) continue;
      expect_masked({.queries = queries,
                     .keys = keys,
                     .left = left,
                     .right = right,
                     .key_heads = 1,
                     .dtype = left == 17 ? Dtype::kBF16 : Dtype::kF32},
                    left == 17 ? 0.03 : 4e-6);
    }
  expect_masked({.queries = 70, .keys = 70, .left = 3, .right = 40, .dtype = Dtype::kF16}, 0.004);
}

TEST_P(AttentionWindowTest, IsThatOfEachDocument) {
  for (bool causal : {false, true})
    for (const auto& [left, right] : {std::pair<int64_t, int64_t>{2, 1}, {1, -1}, {-1, 0}}) {
      Sliding s{.left = left, .right = right, .heads = 4, .causal = causal, .ends = {0, 3, 7, 9}};
      expect_masked(s, 1e-14);
      s.dtype = Dtype::kF32;
      s.with_bias = true;
      expect_masked(s, 2e-6);
    }
}

// Keys far from the window must not be multiplied at all, so that the time decreases with the
// window. The test shows this with NaN: even where a mask hides a product, a NaN operand reaches
// the result.
TEST_P(AttentionWindowTest, WhatIsFarFromTheWindowIsNotComputed) {
  constexpr int64_t kSequence = 450, kBad = 225, kFar = 200;
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16}) {
    const Sliding s{.queries = kSequence,
                    .keys = kSequence,
                    .left = 20,
                    .right = 10,
                    .heads = 1,
                    .key_heads = 1,
                    .dtype = dtype};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    SlidingTensors keys(s), queries(s);
    for (int64_t c = 0; c < 8; ++c) keys.k.set({0, 0, kBad, c}, nan);
    for (int64_t c = 0; c < 8; ++c) queries.q.set({0, 0, kBad, c}, nan);
    run_both(keys, nullptr, nullptr, s.attrs());
    run_both(queries, nullptr, nullptr, s.attrs());
    int64_t bad = 0;
    for (const Window* w : {&keys.out, &keys.dq, &queries.dk, &queries.dv})
      for_each_index(w->shape(), [&](const Index& i) {
        const bool is_far = i[0] != 0 || std::abs(i[2] - kBad) > kFar;
        const double x = w->get(i).real();
        bad += x != x;
        EXPECT_TRUE(!is_far || x == x) << i[2];
      });
    EXPECT_GT(bad, 0);
  }
}

TEST_P(AttentionWindowTest, IsRefusedWhereItIsNone) {
  Sliding s{.left = -2};
  SlidingTensors t(s);
  EXPECT_EQ(code_of({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out}, s.attrs()}),
            Code::kInvalidArgument);
  s = {.right = -7};
  EXPECT_EQ(code_of({"sdpa_backward",
                     {&t.grad, &t.q, &t.k, &t.v, nullptr, &t.out, &t.lse},
                     {&t.dq},
                     s.attrs()}),
            Code::kInvalidArgument);
}

SHW_CTS(AttentionWindowTest);

}  // namespace
}  // namespace shw::cts
