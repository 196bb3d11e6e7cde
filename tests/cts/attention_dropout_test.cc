// Dropout of attention. The forward pass is compared with the definition in f64, whose mask the
// test draws by itself, and the backward pass with difference quotients of that definition.
#include <cmath>
#include <limits>

#include "cts/attention_window.h"
#include "cts/kernel_test.h"
#include "runtime/random.h"

namespace shw::cts::dropout {  // its names are those of other tests of attention
namespace {

constexpr int64_t kSeed = 77;

struct Problem {
  int64_t batch = 2, heads = 4, key_heads = 2, queries = 6, keys = 5, width = 3, value_width = 4;
  bool causal = false;
  double p = 0.4;
  const Window* bias = nullptr;

  Dims scores() const { return {batch, heads, queries, keys}; }
};

// The factor of a pair's weight. `at`: batch, head, query, key.
double kept(const Problem& p, uint64_t seed, const Index& at) {
  const int64_t place = ((at[0] * p.heads + at[1]) * p.queries + at[2]) * p.keys + at[3];
  const double drawn = runtime::random_unit(seed, static_cast<runtime::u64>(place));
  return drawn >= p.p ? 1 / (1 - p.p) : 0;
}

using Read = std::function<double(const Index&)>;
struct Operands {
  Read q, k, v, bias;
};

// Row `at` (batch, head, query) of the result.
std::vector<double> attention(const Problem& p, const Operands& in, uint64_t seed, const Index& at,
                              double* lse = nullptr) {
  const int64_t shared = at[1] / (p.heads / p.key_heads);
  std::vector<double> weights, row(static_cast<size_t>(p.value_width));
  double sum = 0;
  for (int64_t j = 0; j < p.keys; ++j) {
    double score = 0;
    for (int64_t c = 0; c < p.width; ++c)
      score += in.q({at[0], at[1], at[2], c}) * in.k({at[0], shared, j, c});
    score /= std::sqrt(static_cast<double>(p.width));
    if (p.bias) score += in.bias({at[0], at[1], at[2], j});
    weights.push_back(in_window(at[2], j, p.causal, -1, -1) ? std::exp(score) : 0);
    sum += weights.back();
  }
  for (int64_t j = 0; j < p.keys; ++j)
    for (int64_t c = 0; c < p.value_width; ++c)
      row[static_cast<size_t>(c)] += weights[static_cast<size_t>(j)] / sum *
                                     kept(p, seed, {at[0], at[1], at[2], j}) *
                                     in.v({at[0], shared, j, c});
  if (lse != nullptr) *lse = std::log(sum);
  return row;
}

Read reader(const Window& w) {
  return [&w](const Index& i) { return w.broadcast(i).real(); };
}

struct Tensors {
  Tensors(const Problem& p, Dtype dtype, Lie lie = Lie::kDense)
      : q(dtype, {p.batch, p.heads, p.queries, p.width}, lie),
        k(dtype, {p.batch, p.key_heads, p.keys, p.width}, lie),
        v(dtype, {p.batch, p.key_heads, p.keys, p.value_width}, lie),
        out(dtype, {p.batch, p.heads, p.queries, p.value_width}, lie),
        lse(dtype == Dtype::kF64 ? dtype : Dtype::kF32, {p.batch, p.heads, p.queries}),
        seed(Dtype::kI64, {}),
        offset(Dtype::kI64, {}),
        grad(dtype, out.shape(), lie),
        dq(dtype, q.shape(), lie),
        dk(dtype, k.shape(), lie),
        dv(dtype, v.shape(), lie),
        dbias(Dtype::kF32, p.scores()) {
    q.fill(fractions(1));
    k.fill(fractions(2));
    v.fill(fractions(3));
    grad.fill(fractions(4));
  }
  Window q, k, v, out, lse, seed, offset, grad, dq, dk, dv, dbias;
};

class AttentionDropoutTest : public KernelTest {
 protected:
  static Attrs attrs_of(const Problem& p) {
    Attrs a;
    a.set(AttrKey::kCausal, p.causal);
    a.set(AttrKey::kDropoutP, p.p);
    a.set(AttrKey::kSeed, kSeed);
    return a;
  }
  static Call forward(const Problem& p, Tensors& t) {
    return {"sdpa", {&t.q, &t.k, &t.v, p.bias}, {&t.out, &t.lse, &t.seed, &t.offset}, attrs_of(p)};
  }
  static Call backward(const Problem& p, Tensors& t) {
    return {"sdpa_backward",
            {&t.grad, &t.q, &t.k, &t.v, p.bias, &t.out, &t.lse, &t.seed, &t.offset},
            {&t.dq, &t.dk, &t.dv, p.bias ? &t.dbias : nullptr},
            attrs_of(p)};
  }
  static Operands operands(const Problem& p, const Tensors& t) {
    return {reader(t.q), reader(t.k), reader(t.v), p.bias ? reader(*p.bias) : nullptr};
  }
  static void expect_forward(const Problem& p, const Tensors& t, uint64_t seed, double relative) {
    const Operands in = operands(p, t);
    expect_elements(
        t.out, [&](const Index& i) { return attention(p, in, seed, i)[static_cast<size_t>(i[3])]; },
        relative);
    expect_elements(
        t.lse,
        [&](const Index& i) {
          double lse = 0;
          attention(p, in, seed, i, &lse);
          return lse;
        },
        relative);
  }
};

TEST_P(AttentionDropoutTest, ForwardIsTheDefinition) {
  Window bias(Dtype::kF32, {4, 6, 1});
  bias.fill(fractions(9));
  for (const Window* b : {static_cast<const Window*>(nullptr), &std::as_const(bias)})
    for (bool causal : {false, true})
      for (const auto& [dtype, relative] : {std::pair(Dtype::kF32, 4e-6),
                                            {Dtype::kF64, 1e-14},
                                            {Dtype::kBF16, 0x1p-6},
                                            {Dtype::kF16, 0x1p-8}})
        for (Lie lie : kWritable) {
          const Problem p{.causal = causal, .bias = b};
          Tensors t(p, dtype, lie);
          run_ok(forward(p, t));
          expect_forward(p, t, kSeed, relative);
          EXPECT_EQ(t.seed.get({}).real(), kSeed);
          EXPECT_EQ(t.offset.get({}), 0.0);
        }
}

TEST_P(AttentionDropoutTest, ForwardOfManyBlocksAndEveryShare) {
  for (bool causal : {false, true})
    for (double share : {0.1, 0.5, 0.999, 1.0}) {
      if (testing::kSanitized && share == 0.1) continue;
      const Problem p{
          .batch = 1, .queries = 70, .keys = 90, .width = 8, .causal = causal, .p = share};
      Tensors t(p, Dtype::kF32);
      run_ok(forward(p, t));
      if (share < 1) {
        expect_forward(p, t, kSeed, share < 0.9 ? 4e-6 : 4e-4);
      } else {
        expect_elements(t.out, [](const Index&) { return 0.0; });
      }
    }
}

// The run's seed and offset, and the step's own seed, all change the numbers.
TEST_P(AttentionDropoutTest, DrawsWithTheSeedOfTheRun) {
  const Problem p;
  Window run_seed(Dtype::kI64, {2});
  run_seed.fill([](int64_t i) { return i + 5; });
  Tensors t(p, Dtype::kF32);
  Call call = forward(p, t);
  call.inputs.push_back(nullptr);
  call.inputs.push_back(&run_seed);
  run_ok(call);
  const uint64_t seed = runtime::seed_of_run(5, 6, kSeed);
  expect_forward(p, t, seed, 4e-6);
  // The element holds all 64 bits; a Number would round them.
  uint64_t returned = 0;
  std::memcpy(&returned, t.seed.bytes().data() + t.seed.offset_bytes(), sizeof returned);
  EXPECT_EQ(returned, seed);
  run_ok(backward(p, t));
}

// A rank's piece of the batch and the heads gets the weights that the whole drops.
TEST_P(AttentionDropoutTest, APieceDropsWhatTheWholeDrops) {
  const Problem whole{.batch = 4, .heads = 6, .key_heads = 6}, part{.heads = 3, .key_heads = 3};
  for (int64_t rank = 0; rank < 4; ++rank) {
    const int64_t b0 = rank / 2 * 2, h0 = rank % 2 * 3;
    Tensors all(whole, Dtype::kF64), t(part, Dtype::kF64);
    const auto cut = [&](Window& piece, const Window& of) {
      for_each_index(piece.shape(), [&](const Index& i) {
        piece.set(i, of.get({i[0] + b0, i[1] + h0, i[2], i[3]}));
      });
    };
    cut(t.q, all.q);
    cut(t.k, all.k);
    cut(t.v, all.v);
    cut(t.grad, all.grad);
    run_ok(forward(whole, all));
    run_ok(backward(whole, all));
    for (Call call : {forward(part, t), backward(part, t)}) {
      const Dims& size = (call.kernel == "sdpa" ? all.q : all.grad).shape();
      call.attrs.set(AttrKey::kSize, std::vector<int64_t>(size.begin(), size.end()));
      call.attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, 0, 1, 1});
      call.mesh = "x=2,y=2";
      call.rank = rank;
      run_ok(call);
    }
    const auto expect_piece = [&](const Window& got, const Window& of) {
      expect_elements(
          got,
          [&](const Index& i) {
            return of.get({i[0] + b0, i[1] + h0, i[2], i[3]});
          },
          1e-14);
    };
    expect_piece(t.out, all.out);
    expect_piece(t.dq, all.dq);
    expect_piece(t.dk, all.dk);
    expect_piece(t.dv, all.dv);
  }
}

// Along random directions in turn: the derivative of sum(grad ∘ out), by a central difference in
// f64, is the product of gradient and direction.
TEST_P(AttentionDropoutTest, BackwardIsTheDerivative) {
  Window small(Dtype::kF32, {2, 4, 6, 5}), large(Dtype::kF32, {2, 4, 40, 50});
  small.fill(fractions(9));
  large.fill(fractions(9));
  for (const Window* bias : {&small, &large})
    for (bool causal : {false, true})
      for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
        if (testing::kSanitized && bias == &large && causal) continue;
        const Problem p{
            .queries = bias->shape()[2], .keys = bias->shape()[3], .causal = causal, .bias = bias};
        Tensors t(p, dtype, Lie::kReversed);
        run_ok(forward(p, t));
        run_ok(backward(p, t));
        const Window* operands[] = {&t.q, &t.k, &t.v, bias};
        const Window* gradients[] = {&t.dq, &t.dk, &t.dv, &t.dbias};
        for (size_t which = 0; which < 4; ++which) {
          SCOPED_TRACE(which);
          Window direction(Dtype::kF64, operands[which]->shape());
          direction.fill(fractions(20 + static_cast<int>(which)));
          const auto objective = [&](double step) {
            const auto read = [&](size_t n) -> Read {
              return [&, n](const Index& i) {
                return operands[n]->get(i).real() +
                       (n == which ? step * direction.get(i).real() : 0);
              };
            };
            const Operands in{read(0), read(1), read(2), read(3)};
            double total = 0;
            for_each_index({p.batch, p.heads, p.queries}, [&](const Index& i) {
              const std::vector<double> row = attention(p, in, kSeed, i);
              for (int64_t c = 0; c < p.value_width; ++c)
                total += t.grad.get({i[0], i[1], i[2], c}).real() * row[static_cast<size_t>(c)];
            });
            return total;
          };
          double along = 0, size = 0;
          for_each_index(direction.shape(), [&](const Index& i) {
            const double term = gradients[which]->get(i).real() * direction.get(i).real();
            along += term;
            size += std::abs(term);
          });
          constexpr double kStep = 1e-4;
          const double want = (objective(kStep) - objective(-kStep)) / (2 * kStep);
          EXPECT_NEAR(along, want, size * 1e-6);
        }
      }
}

TEST_P(AttentionDropoutTest, RefusesWhatIsNoDropout) {
  for (double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    const Problem p{.p = share};
    Tensors t(p, Dtype::kF32);
    EXPECT_EQ(code_of(forward(p, t)), Code::kInvalidArgument);
    EXPECT_EQ(code_of(backward(p, t)), Code::kInvalidArgument);
  }
  const Problem p;
  Tensors t(p, Dtype::kF32);
  Window real(Dtype::kF32, {}), none(Dtype::kI64, {0}), seed(Dtype::kI64, {3});
  for (Window* wrong : {&real, &none}) {
    Call call = forward(p, t);
    call.outputs[2] = wrong;
    EXPECT_EQ(code_of(call), Code::kInvalidArgument);
    call = backward(p, t);
    call.inputs[7] = wrong;
    EXPECT_EQ(code_of(call), Code::kInvalidArgument);
  }
  Call call = backward(p, t);
  call.inputs.resize(7);
  EXPECT_EQ(code_of(call), Code::kInvalidArgument);
  call = forward(p, t);
  call.inputs.push_back(nullptr);
  call.inputs.push_back(&seed);
  EXPECT_EQ(code_of(call), Code::kInvalidArgument);
  for (const std::vector<int64_t>& size : {std::vector<int64_t>{2, 4, 6},
                                           {3, 4, 6, 3},
                                           {2, 4, 7, 3},
                                           {int64_t{1} << 60, int64_t{1} << 60, 6, 3}}) {
    call = forward(p, t);
    call.attrs.set(AttrKey::kSize, size);
    EXPECT_EQ(code_of(call), Code::kInvalidArgument) << size.size() << " " << size[0];
  }
}

SHW_CTS(AttentionDropoutTest);

}  // namespace
}  // namespace shw::cts::dropout
