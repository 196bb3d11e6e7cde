// Attention within packed documents. It must equal attention with a bias of −∞ for each query and
// key that are in different documents.
#include <limits>

#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Packing {
  std::vector<std::vector<int64_t>> ends;  // one row of operand `documents` for each batch
  int64_t sequence = 0, heads = 2, key_heads = 2;
  bool causal = false, with_bias = false;
  Dtype dtype = Dtype::kF64;
  Lie lie = Lie::kDense;

  auto batch() const { return static_cast<int64_t>(ends.size()); }
  // The document that contains position i of batch b; -1: none.
  int64_t document_of(int64_t b, int64_t i) const {
    const auto& row = ends[static_cast<size_t>(b)];
    for (size_t d = 1; d < row.size(); ++d)
      if (i < row[d]) return static_cast<int64_t>(d);
    return -1;
  }
  Window documents(Dtype integers = Dtype::kI32, Lie how = Lie::kDense) const {
    const size_t width = ends[0].size();
    Window w(integers, {batch(), static_cast<int64_t>(width)}, how);
    w.fill([&](int64_t i) {
      return static_cast<double>(
          ends[static_cast<size_t>(i) / width][static_cast<size_t>(i) % width]);
    });
    return w;
  }
  Attrs attrs() const {
    Attrs a;
    a.set(AttrKey::kCausal, causal);
    return a;
  }
};

struct PackedTensors {
  explicit PackedTensors(const Packing& p)
      : q(p.dtype, {p.batch(), p.heads, p.sequence, 5}, p.lie),
        k(p.dtype, {p.batch(), p.key_heads, p.sequence, 5}, p.lie),
        v(p.dtype, {p.batch(), p.key_heads, p.sequence, 3}, p.lie),
        bias(p.dtype, {p.batch(), p.heads, p.sequence, p.sequence}),
        grad(p.dtype, {p.batch(), p.heads, p.sequence, 3}, p.lie),
        out(p.dtype, grad.shape()),
        lse(p.dtype == Dtype::kF64 ? p.dtype : Dtype::kF32, {p.batch(), p.heads, p.sequence}),
        dq(p.dtype, q.shape()),
        dk(p.dtype, k.shape()),
        dv(p.dtype, v.shape()),
        dbias(p.dtype, bias.shape()) {
    q.fill(fractions(1));
    k.fill(fractions(2));
    v.fill(fractions(3));
    bias.fill(p.with_bias ? fractions(4) : [](int64_t) { return Number(0); });
    grad.fill(fractions(5));
  }
  Window q, k, v, bias, grad, out, lse, dq, dk, dv, dbias;
};

class PackedDocumentsTest : public KernelTest {
 protected:
  void run_both(const Packing& p, PackedTensors& t, const Window* documents) {
    const Window* bias = p.with_bias || documents == nullptr ? &t.bias : nullptr;
    run_ok({"sdpa", {&t.q, &t.k, &t.v, bias, documents}, {&t.out, &t.lse}, p.attrs()});
    run_ok({"sdpa_backward",
            {&t.grad, &t.q, &t.k, &t.v, bias, &t.out, &t.lse, nullptr, nullptr, documents},
            {&t.dq, &t.dk, &t.dv, bias != nullptr ? &t.dbias : nullptr},
            p.attrs()});
  }

  void expect_masked(const Packing& p, double relative) {
    PackedTensors masked(p), packed(p);
    for_each_index(masked.bias.shape(), [&](const Index& i) {
      const int64_t own = p.document_of(i[0], i[2]);
      if (own < 0 || own != p.document_of(i[0], i[3])) masked.bias.set(i, kNever);
    });
    run_both(p, masked, nullptr);
    const Window documents = p.documents(Dtype::kI32, p.lie);
    run_both(p, packed, &documents);
    std::vector<std::pair<const Window*, const Window*>> pairs = {{&packed.out, &masked.out},
                                                                  {&packed.dq, &masked.dq},
                                                                  {&packed.dk, &masked.dk},
                                                                  {&packed.dv, &masked.dv}};
    if (p.with_bias) pairs.emplace_back(&packed.dbias, &masked.dbias);
    for (const auto& [got, want] : pairs) {
      SCOPED_TRACE(&want - &pairs[0].second);
      expect_elements(
          *got, [want = want](const Index& i) { return want->get(i); }, relative);
    }
    for_each_index(packed.lse.shape(), [&](const Index& i) {
      const double got = packed.lse.get(i).real(), want = masked.lse.get(i).real();
      if (p.document_of(i[0], i[2]) < 0)
        EXPECT_EQ(got, kNever);
      else
        EXPECT_NEAR(got, want, relative * 8);
    });
  }
};

TEST_P(PackedDocumentsTest, AreAMask) {
  for (bool causal : {false, true})
    for (bool with_bias : {false, true})
      for (Lie lie : {Lie::kDense, Lie::kReversed, Lie::kGaps}) {
        Packing p{.ends = {{0, 3, 7, 9}, {0, 4, 4, 4}, {0, 9, 9, 9}, {0, 0, 1, 8}, {0, 0, 0, 0}},
                  .sequence = 9,
                  .causal = causal,
                  .with_bias = with_bias,
                  .lie = lie};
        expect_masked(p, 1e-14);
        p.heads = 4;
        expect_masked(p, 1e-14);  // query heads share key heads
        p.dtype = Dtype::kF32;
        expect_masked(p, 2e-6);
      }
}

// Blocks of queries within one document, across several documents, and after the last one.
TEST_P(PackedDocumentsTest, AreAMaskOverManyBlocks) {
  for (bool causal : {false, true}) {
    Packing p{.ends = {{0, 64, 128, 200}, {0, 30, 170, 190}, {0, 1, 66, 66}},
              .sequence = 200,
              .heads = 1,
              .key_heads = 1,
              .causal = causal};
    expect_masked(p, 1e-13);
  }
}

// Positions after the last end must not be read.
TEST_P(PackedDocumentsTest, NothingComesFromBehindTheLastEnd) {
  const Packing p{.ends = {{0, 3, 5}}, .sequence = 9, .causal = true};
  PackedTensors clean(p), dirty(p);
  for (Window* w : {&dirty.q, &dirty.k, &dirty.v, &dirty.grad})
    for_each_index(w->shape(), [&](const Index& i) {
      if (i[2] >= 5) w->set(i, std::numeric_limits<double>::quiet_NaN());
    });
  const Window documents = p.documents(Dtype::kI64);
  run_both(p, clean, &documents);
  run_both(p, dirty, &documents);
  for (const auto& [got, want] :
       {std::pair(&dirty.out, &clean.out), std::pair(&dirty.dq, &clean.dq),
        std::pair(&dirty.dk, &clean.dk), std::pair(&dirty.dv, &clean.dv)})
    expect_elements(*got, [want = want](const Index& i) { return want->get(i); });
}

TEST_P(PackedDocumentsTest, EndsThatAreNoneAreRefused) {
  for (const std::vector<int64_t>& bad :
       {std::vector<int64_t>{1, 3, 9}, {0, 5, 4}, {0, 5, 10}, {0, -1, 9}}) {
    const Packing p{.ends = {{0, 3, 9}, bad}, .sequence = 9};
    PackedTensors t(p);
    const Window documents = p.documents();
    EXPECT_EQ(code_of({"sdpa", {&t.q, &t.k, &t.v, nullptr, &documents}, {&t.out}, p.attrs()}),
              Code::kOutOfRange);
  }
  const Packing p{.ends = {{0, 3, 9}}, .sequence = 9};
  PackedTensors t(p);
  Window reals(Dtype::kF32, {1, 3}), flat(Dtype::kI32, {3}), many(Dtype::kI32, {2, 3}),
      none(Dtype::kI32, {1, 0}), longer(Dtype::kF64, {1, 2, 10, 5}),
      values(Dtype::kF64, {1, 2, 10, 3});
  for (const Window* w : {&reals, &flat, &many, &none})
    EXPECT_EQ(code_of({"sdpa", {&t.q, &t.k, &t.v, nullptr, w}, {&t.out}, p.attrs()}),
              Code::kInvalidArgument);
  const Window documents = p.documents();
  EXPECT_EQ(code_of({"sdpa", {&t.q, &longer, &values, nullptr, &documents}, {&t.out}, p.attrs()}),
            Code::kInvalidArgument)
      << "more keys than queries";
}

SHW_CTS(PackedDocumentsTest);

}  // namespace
}  // namespace shw::cts
