// sdpa and sdpa_backward. The forward pass is compared with the definition in f64, the backward
// pass with difference quotients of that definition.
#include <cmath>
#include <limits>

#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

struct Problem {
  int64_t batch = 1, heads = 2, queries = 5, keys = 5, width = 3, value_width = 3;
  bool causal = false;
  double scale = 0;  // 0: 1/√width
  const Window* bias = nullptr;
  int64_t key_heads = 0;  // 0: as many as heads

  int64_t num_key_heads() const { return key_heads > 0 ? key_heads : heads; }
};

// Element out[b,h,i,c] = `at` by the definition. q, k and v are functions of an index.
double attention(const Problem& p, const std::function<double(const Index&)>& q,
                 const std::function<double(const Index&)>& k,
                 const std::function<double(const Index&)>& v,
                 const std::function<double(const Index&)>& bias, const Index& at,
                 double* lse = nullptr) {
  const double scale = p.scale != 0 ? p.scale : 1 / std::sqrt(static_cast<double>(p.width));
  const int64_t n = p.causal ? std::min(p.keys, at[2] + 1) : p.keys;
  const int64_t shared = at[1] / (p.heads / p.num_key_heads());
  std::vector<double> s(static_cast<size_t>(n));
  double most = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < n; ++j) {
    double dot = 0;
    for (int64_t c = 0; c < p.width; ++c)
      dot += q({at[0], at[1], at[2], c}) * k({at[0], shared, j, c});
    s[static_cast<size_t>(j)] = scale * dot + (p.bias ? bias({at[0], at[1], at[2], j}) : 0);
    most = std::max(most, s[static_cast<size_t>(j)]);
  }
  double sum = 0, result = 0;
  for (double& x : s) sum += x = std::exp(x - most);
  for (int64_t j = 0; j < n; ++j)
    result += s[static_cast<size_t>(j)] / sum * v({at[0], shared, j, at[3]});
  if (lse != nullptr) *lse = most + std::log(sum);
  return result;
}

std::function<double(const Index&)> reader(const Window& w) {
  return [&w](const Index& i) { return w.broadcast(i).real(); };
}

class AttentionTest : public KernelTest {
 protected:
  static Attrs attrs_of(const Problem& p) {
    Attrs attrs;
    attrs.set(AttrKey::kCausal, p.causal);
    attrs.set(AttrKey::kDropoutP, 0.0);
    if (p.scale != 0) attrs.set(AttrKey::kScale, p.scale);
    return attrs;
  }

  struct Tensors {
    Tensors(const Problem& p, Dtype dtype, Lie lie)
        : q(dtype, {p.batch, p.heads, p.queries, p.width}, lie),
          k(dtype, {p.batch, p.num_key_heads(), p.keys, p.width}, lie),
          v(dtype, {p.batch, p.num_key_heads(), p.keys, p.value_width}, lie),
          out(dtype, {p.batch, p.heads, p.queries, p.value_width},
              lie == Lie::kExpanded ? Lie::kDense : lie),
          lse(dtype == Dtype::kF64 ? dtype : Dtype::kF32, {p.batch, p.heads, p.queries}),
          seed(Dtype::kI64, {}),
          offset(Dtype::kI64, {}) {
      q.fill(fractions(1));
      k.fill(fractions(2));
      v.fill(fractions(3));
    }
    Window q, k, v, out, lse, seed, offset;
  };

  void check_forward(const Problem& p, Dtype dtype, Lie lie, double relative) {
    Tensors t(p, dtype, lie);
    run_ok({"sdpa", {&t.q, &t.k, &t.v, p.bias}, {&t.out, &t.lse, &t.seed, &t.offset}, attrs_of(p)});
    const auto bias = p.bias ? reader(*p.bias) : nullptr;
    expect_elements(
        t.out,
        [&](const Index& i) {
          return attention(p, reader(t.q), reader(t.k), reader(t.v), bias, i);
        },
        relative);
    expect_elements(
        t.lse,
        [&](const Index& i) {
          double lse = 0;
          attention(p, reader(t.q), reader(t.k), reader(t.v), bias, {i[0], i[1], i[2], 0}, &lse);
          return lse;
        },
        dtype == Dtype::kF64 ? 1e-14 : 1e-5);
    EXPECT_EQ(t.seed.get({}), 0.0);
    EXPECT_EQ(t.offset.get({}), 0.0);
  }
};

TEST_P(AttentionTest, ForwardOfEveryWindow) {
  for (Lie lie : kReadable)
    for (bool causal : {false, true}) {
      check_forward({.batch = 2, .causal = causal}, Dtype::kF32, lie, 2e-6);
      check_forward({.batch = 2, .causal = causal}, Dtype::kBF16, lie, 0x1p-7);
      check_forward({.batch = 2, .causal = causal}, Dtype::kF16, lie, 0x1p-9);
      check_forward({.batch = 2, .causal = causal}, Dtype::kF64, lie, 1e-14);
    }
}

TEST_P(AttentionTest, ForwardOfSequencesLongerThanABlock) {
  for (bool causal : {false, true})
    for (auto [queries, keys] :
         {std::pair<int64_t, int64_t>{64, 64}, {70, 70}, {130, 40}, {40, 130}}) {
      SCOPED_TRACE(queries);
      check_forward(
          {.queries = queries, .keys = keys, .width = 8, .value_width = 6, .causal = causal},
          Dtype::kF32, Lie::kDense, 2e-6);
    }
}

TEST_P(AttentionTest, ForwardWithScaleAndBias) {
  for (const Dims& shape : {Dims{2, 2, 5, 5}, Dims{1, 1, 5, 5}, Dims{5}, Dims{2, 1, 1, 5}}) {
    Window bias(Dtype::kF32, shape);
    bias.fill(fractions(9));
    check_forward({.batch = 2, .scale = 0.25, .bias = &bias}, Dtype::kF32, Lie::kDense, 2e-6);
    check_forward({.batch = 2, .causal = true, .bias = &bias}, Dtype::kF32, Lie::kDense, 2e-6);
  }
}

TEST_P(AttentionTest, ForwardWithSharedKeyHeads) {
  for (Lie lie : kReadable)
    for (int64_t key_heads : {1, 2, 3})
      for (bool causal : {false, true})
        check_forward({.batch = 2, .heads = 6, .causal = causal, .key_heads = key_heads},
                      Dtype::kF32, lie, 2e-6);
}

TEST_P(AttentionTest, AQueryThatSeesNothingGetsZero) {
  Window bias(Dtype::kF32, {5, 5});
  const double inf = std::numeric_limits<double>::infinity();
  bias.fill([&](int64_t i) { return i / 5 == 2 ? -inf : 0; });
  Problem p{.bias = &bias};
  Tensors t(p, Dtype::kF32, Lie::kDense);
  run_ok({"sdpa", {&t.q, &t.k, &t.v, &bias}, {&t.out, &t.lse}, attrs_of(p)});
  EXPECT_EQ(t.out.get({0, 0, 2, 0}), 0.0);
  EXPECT_EQ(t.lse.get({0, 0, 2}), -inf);
  Window grad(Dtype::kF32, t.out.shape()), dq(Dtype::kF32, t.q.shape());
  grad.fill(fractions(4));
  run_ok({"sdpa_backward", {&grad, &t.q, &t.k, &t.v, &bias, &t.out, &t.lse}, {&dq}, attrs_of(p)});
  EXPECT_EQ(dq.get({0, 0, 2, 0}), 0.0);
}

TEST_P(AttentionTest, LogSumExpMayBePaddedOrAColumn) {
  Problem p;
  Tensors t(p, Dtype::kF32, Lie::kDense);
  Window column(Dtype::kF32, {1, 2, 5, 1}), padded(Dtype::kF32, {1, 2, 32}),
      none(Dtype::kF32, {1, 2, 0});
  run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &t.lse}, attrs_of(p)});
  run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {nullptr, &column}, attrs_of(p)});
  run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &padded}, attrs_of(p)});
  run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &none}, attrs_of(p)});
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(column.get({0, 1, i, 0}), t.lse.get({0, 1, i}));
    EXPECT_EQ(padded.get({0, 1, i}), t.lse.get({0, 1, i}));
  }
}

// Each gradient is the derivative of sum(grad ∘ out), here by a central difference in f64.
TEST_P(AttentionTest, BackwardIsTheDerivative) {
  Window bias(Dtype::kF32, {1, 4, 6, 5});
  bias.fill(fractions(9));
  for (auto [causal, with_bias, key_heads] : {std::tuple(false, false, 4),
                                              {true, false, 4},
                                              {false, true, 4},
                                              {true, true, 4},
                                              {false, true, 2},
                                              {true, false, 2},
                                              {true, true, 1}})
    for (Lie lie : {Lie::kDense, Lie::kReversed, Lie::kGaps}) {
      if (shw::testing::kSanitized && lie != Lie::kGaps) continue;
      Problem p{.heads = 4,
                .queries = 6,
                .value_width = 4,
                .causal = causal,
                .bias = with_bias ? &bias : nullptr,
                .key_heads = key_heads};
      Tensors t(p, Dtype::kF32, lie);
      run_ok({"sdpa", {&t.q, &t.k, &t.v, p.bias}, {&t.out, &t.lse}, attrs_of(p)});
      Window grad(Dtype::kF32, t.out.shape(), lie);
      grad.fill(fractions(4));
      Window dq(Dtype::kF32, t.q.shape(), lie), dk(Dtype::kF32, t.k.shape(), lie),
          dv(Dtype::kF32, t.v.shape(), lie), dbias(Dtype::kF32, bias.shape());
      run_ok({"sdpa_backward",
              {&grad, &t.q, &t.k, &t.v, p.bias, &t.out, &t.lse, &t.seed, &t.offset},
              {&dq, &dk, &dv, with_bias ? &dbias : nullptr},
              attrs_of(p)});
      const Window* operands[] = {&t.q, &t.k, &t.v, &bias};
      const Window* gradients[] = {&dq, &dk, &dv, &dbias};
      for (size_t which = 0; which < (with_bias ? 4u : 3u); ++which) {
        SCOPED_TRACE(which);
        expect_elements(
            *gradients[which],
            [&](const Index& moved) {
              const auto objective = [&](double step) {
                const auto read = [&](size_t n) -> std::function<double(const Index&)> {
                  return [&, n](const Index& i) {
                    return operands[n]->broadcast(i).real() + (n == which && i == moved ? step : 0);
                  };
                };
                double total = 0;
                for_each_index(t.out.shape(), [&](const Index& i) {
                  total += grad.get(i).real() * attention(p, read(0), read(1), read(2), read(3), i);
                });
                return total;
              };
              constexpr double kStep = 1e-5;
              return (objective(kStep) - objective(-kStep)) / (2 * kStep);
            },
            1e-5);
      }
    }
}

// The sequence exceeds one block of queries. The reference is the formula in f64, since the same
// problem computed in blocks is no independent reference.
TEST_P(AttentionTest, BackwardOfSequencesLongerThanABlock) {
  for (bool causal : {false, true})
    for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64}) {
      Problem p{
          .heads = 1, .queries = 70, .keys = 90, .width = 5, .value_width = 5, .causal = causal};
      Tensors t(p, dtype, Lie::kDense);
      run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &t.lse}, attrs_of(p)});
      Window grad(dtype, t.out.shape()), dq(dtype, t.q.shape()), dk(dtype, t.k.shape()),
          dv(dtype, t.v.shape());
      grad.fill(fractions(4));
      run_ok({"sdpa_backward",
              {&grad, &t.q, &t.k, &t.v, nullptr, &t.out, &t.lse},
              {&dq, &dk, &dv},
              attrs_of(p)});
      const double scale = 1 / std::sqrt(5.0);
      std::vector<double> want_q(70 * 5), want_k(90 * 5), want_v(90 * 5);
      for (int64_t i = 0; i < 70; ++i) {
        const int64_t n = causal ? std::min<int64_t>(90, i + 1) : 90;
        std::vector<double> w(static_cast<size_t>(n)), dp(w.size());
        double sum = 0, delta = 0;
        for (int64_t j = 0; j < n; ++j) {
          double dot = 0;
          for (int64_t c = 0; c < 5; ++c) {
            dot += t.q.get({0, 0, i, c}).real() * t.k.get({0, 0, j, c}).real();
            dp[static_cast<size_t>(j)] +=
                grad.get({0, 0, i, c}).real() * t.v.get({0, 0, j, c}).real();
          }
          sum += w[static_cast<size_t>(j)] = std::exp(scale * dot);
        }
        for (size_t j = 0; j < w.size(); ++j) delta += (w[j] /= sum) * dp[j];
        for (size_t j = 0; j < w.size(); ++j) {
          const auto at = static_cast<int64_t>(j);
          const double ds = scale * w[j] * (dp[j] - delta);
          for (int64_t c = 0; c < 5; ++c) {
            want_q[static_cast<size_t>(i * 5 + c)] += ds * t.k.get({0, 0, at, c}).real();
            want_k[j * 5 + static_cast<size_t>(c)] += ds * t.q.get({0, 0, i, c}).real();
            want_v[j * 5 + static_cast<size_t>(c)] += w[j] * grad.get({0, 0, i, c}).real();
          }
        }
      }
      const double relative = dtype == Dtype::kF64 ? 1e-13 : dtype == Dtype::kF32 ? 1e-5 : 0.03;
      const auto of = [](const std::vector<double>& v) {
        return [&v](const Index& i) { return v[static_cast<size_t>(i[2] * 5 + i[3])]; };
      };
      expect_elements(dq, of(want_q), relative);
      expect_elements(dk, of(want_k), relative);
      expect_elements(dv, of(want_v), relative);
    }
}

// Attribute `dims` says in which order the dims of the results are laid out.
TEST_P(AttentionTest, WritesItsResultsInTheOrderAsked) {
  Problem p{.batch = 2, .heads = 4, .queries = 6, .keys = 7, .value_width = 5, .key_heads = 2};
  Tensors t(p, Dtype::kF32, Lie::kDense);
  Window grad(Dtype::kF32, t.out.shape());
  grad.fill(fractions(4));
  const auto backward = [&](Window& dq, Window& dk, Window& dv, Attrs attrs) {
    return Call{"sdpa_backward",
                {&grad, &t.q, &t.k, &t.v, nullptr, &t.out, &t.lse},
                {&dq, &dk, &dv},
                std::move(attrs)};
  };
  run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &t.lse}, attrs_of(p)});
  Window dq(Dtype::kF32, t.q.shape()), dk(Dtype::kF32, t.k.shape()), dv(Dtype::kF32, t.v.shape());
  run_ok(backward(dq, dk, dv, attrs_of(p)));
  const std::vector<int64_t> order{0, 2, 3, 1};
  const auto lies = [&](const Window& as_is) {
    Dims shape;
    for (int64_t d : order) shape.push_back(as_is.shape()[static_cast<size_t>(d)]);
    return Window(Dtype::kF32, shape);
  };
  const auto expect_same = [&](const Window& written, const Window& as_is) {
    expect_elements(
        written,
        [&](const Index& i) {
          return as_is.get({i[0], i[3], i[1], i[2]}).real();
        },
        0);
  };
  Attrs ordered = attrs_of(p);
  ordered.set(AttrKey::kDims, order);
  Window out = lies(t.out), q = lies(dq), k = lies(dk), v = lies(dv);
  run_ok({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&out, &t.lse}, ordered});
  run_ok(backward(q, k, v, ordered));
  expect_same(out, t.out);
  expect_same(q, dq);
  expect_same(k, dk);
  expect_same(v, dv);
  for (const std::vector<int64_t>& bad : {std::vector<int64_t>{0, 1, 2},
                                          {0, 1, 1, 3},
                                          {0, 1, 2, 4},
                                          {-1, 0, 1, 2},
                                          {0, 1, 2, 3, 0}}) {
    ordered.set(AttrKey::kDims, bad);
    EXPECT_EQ(code_of({"sdpa", {&t.q, &t.k, &t.v, nullptr}, {&t.out, &t.lse}, ordered}),
              Code::kInvalidArgument);
    EXPECT_EQ(code_of(backward(dq, dk, dv, ordered)), Code::kInvalidArgument);
  }
}

TEST_P(AttentionTest, RefusesWhatItCannotDo) {
  Problem p;
  Tensors t(p, Dtype::kF32, Lie::kDense);
  Tensors wide(p, Dtype::kF64, Lie::kDense);
  EXPECT_EQ(code_of({"sdpa", {&wide.q, &t.k, &t.v}, {&wide.out}, attrs_of(p)}),
            Code::kUnimplemented);
  EXPECT_EQ(code_of({"sdpa", {&wide.q, &wide.k, &wide.v}, {&wide.out, &t.lse}, attrs_of(p)}),
            Code::kInvalidArgument);
  Window more(Dtype::kF32, {1, 4, 5, 3}), none(Dtype::kF32, {1, 0, 5, 3});
  for (const Window* keys : {&more, &none})
    EXPECT_EQ(code_of({"sdpa", {&t.q, keys, keys}, {&t.out}, attrs_of(p)}), Code::kInvalidArgument);
  Window other(Dtype::kF32, {1, 2, 5, 4});
  EXPECT_EQ(code_of({"sdpa", {&t.q, &other, &t.v}, {&t.out}, attrs_of(p)}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"sdpa", {&t.q, &t.k, &t.v}, {&other}, attrs_of(p)}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"sdpa_backward", {&t.out, &t.q, &t.k, &t.v}, {&t.q}, attrs_of(p)}),
            Code::kInvalidArgument);
}

SHW_CTS(AttentionTest);

}  // namespace
}  // namespace shw::cts
