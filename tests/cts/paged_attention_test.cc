// Attention over keys and values in pages. It must equal attention over the same keys in one
// tensor, with a bias of −∞ for the keys that a query does not see.
#include <algorithm>
#include <limits>

#include "cts/attention_window.h"
#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

struct Paging {
  std::vector<int64_t> lengths = {7, 12, 0, 2, 5};  // number of keys of each row of the batch
  int64_t queries = 3, page_size = 4, row_pages = 3, pages = 17, heads = 2, key_heads = 2;
  bool causal = false;
  int64_t left = -1, right = -1;
  Dtype dtype = Dtype::kF64, integers = Dtype::kI32;
  Lie lie = Lie::kDense;

  auto batch() const { return static_cast<int64_t>(lengths.size()); }
  int64_t capacity() const { return page_size * row_pages; }
  int64_t used_pages(int64_t b) const {
    return (lengths[static_cast<size_t>(b)] + page_size - 1) / page_size;
  }
  // Pages are in a mixed order. The number of pages is prime, so that rows get different pages.
  int64_t page(int64_t b, int64_t p) const {
    return pages == 0 ? 0 : (b * row_pages + p) * 7 % pages;
  }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    const int64_t length = lengths[static_cast<size_t>(b)], at = length - queries + i;
    return at >= 0 && j < length && in_window(at, j, causal, left, right);
  }
  Attrs attrs() const { return window_attrs(causal, left, right); }
};

struct PagedTensors {
  explicit PagedTensors(const Paging& p)
      : q(p.dtype, {p.batch(), p.heads, p.queries, 8}, p.lie),
        k(p.dtype, {p.pages, p.page_size, p.key_heads, 8}, p.lie),
        v(p.dtype, {p.pages, p.page_size, p.key_heads, 6}, p.lie),
        table(p.integers, {p.batch(), p.row_pages}, p.lie),
        lengths(p.integers, {p.batch()}, p.lie),
        out(p.dtype, {p.batch(), p.heads, p.queries, 6}) {
    q.fill(fractions(1));
    k.fill(fractions(2));
    v.fill(fractions(3));
    // Table entries after a row's keys are invalid, since they must not be read.
    for_each_index(table.shape(), [&](const Index& i) {
      table.set(i, i[1] < p.used_pages(i[0]) ? static_cast<double>(p.page(i[0], i[1])) : -9.0);
    });
    lengths.fill([&](int64_t i) { return static_cast<double>(p.lengths[static_cast<size_t>(i)]); });
  }
  Window q, k, v, table, lengths, out;
};

class PagedAttentionTest : public KernelTest {
 protected:
  static Call call(PagedTensors& t, const Paging& p) {
    return {"sdpa_paged", {&t.q, &t.k, &t.v, &t.table, &t.lengths}, {&t.out}, p.attrs()};
  }
  static Call call_of(PagedTensors& t, const Paging& p, const Window* table,
                      const Window* lengths) {
    return {"sdpa_paged", {&t.q, &t.k, &t.v, table, lengths}, {&t.out}, p.attrs()};
  }

  void expect_contiguous(const Paging& p, double relative) {
    PagedTensors t(p);
    run_ok(call(t, p));
    Window k(p.dtype, {p.batch(), p.key_heads, p.capacity(), 8}),
        v(p.dtype, {p.batch(), p.key_heads, p.capacity(), 6}),
        bias(p.dtype, {p.batch(), 1, p.queries, p.capacity()}), out(p.dtype, t.out.shape());
    for (const auto& [whole, pages] : {std::pair(&k, &t.k), std::pair(&v, &t.v)})
      for_each_index(whole->shape(), [&, whole = whole, pages = pages](const Index& i) {
        const int64_t page = p.page(i[0], i[2] / p.page_size);
        whole->set(i, pages->get({page, i[2] % p.page_size, i[1], i[3]}));
      });
    for_each_index(bias.shape(),
                   [&](const Index& i) { bias.set(i, p.sees(i[0], i[2], i[3]) ? 0 : kUnseen); });
    run_ok({"sdpa", {&t.q, &k, &v, &bias}, {&out}, {}});
    expect_elements(
        t.out, [&](const Index& i) { return out.get(i); }, relative);
  }
};

TEST_P(PagedAttentionTest, IsThatOfTheKeysInARow) {
  for (bool causal : {false, true})
    for (int64_t queries : {1, 3, 6})
      for (const auto& [left, right] :
           {std::pair<int64_t, int64_t>{-1, -1}, {2, -1}, {0, 0}, {3, 1}}) {
        Paging p{.queries = queries, .causal = causal, .left = left, .right = right};
        expect_contiguous(p, 1e-14);
        p.heads = 4;  // query heads share key heads
        p.integers = Dtype::kI64;
        p.lie = Lie::kGaps;
        expect_contiguous(p, 1e-14);
        p.lie = Lie::kReversed;
        p.dtype = Dtype::kF32;
        expect_contiguous(p, 2e-6);
      }
}

TEST_P(PagedAttentionTest, OfHalfPrecision) {
  for (Dtype dtype : {Dtype::kBF16, Dtype::kF16})
    expect_contiguous({.heads = 4, .causal = true, .dtype = dtype},
                      dtype == Dtype::kBF16 ? 0x1p-7 : 0x1p-9);
}

TEST_P(PagedAttentionTest, OfManyQueriesAndPages) {
  for (int64_t page_size : {1, 16, 128})
    expect_contiguous({.lengths = {260, 129},
                       .queries = 130,
                       .page_size = page_size,
                       .row_pages = 256 / page_size + 5,
                       .pages = 997,
                       .key_heads = 1,
                       .causal = true,
                       .left = 90,
                       .dtype = Dtype::kF32},
                      4e-6);
}

TEST_P(PagedAttentionTest, WhatIsNotSeenIsNotRead) {
  const Paging p{.lengths = {12}, .queries = 1, .left = 2, .dtype = Dtype::kF32};
  PagedTensors clean(p), dirty(p);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for_each_index(dirty.k.shape(), [&](const Index& i) {
    if (i[0] != p.page(0, 2)) dirty.k.set(i, nan), dirty.v.set({i[0], i[1], i[2], i[3] % 6}, nan);
  });
  dirty.table.set({0, 0}, -1.0);
  dirty.table.set({0, 1}, 1e6);
  run_ok(call(clean, p));
  run_ok(call(dirty, p));
  expect_elements(dirty.out, [&](const Index& i) { return clean.out.get(i); });
}

TEST_P(PagedAttentionTest, NothingToDo) {
  expect_contiguous({.lengths = {0, 0}}, 0);
  expect_contiguous({.lengths = {5, 3}, .queries = 0}, 0);
  expect_contiguous({.lengths = {}}, 0);
  const Paging p{.lengths = {0, 0}, .row_pages = 0, .pages = 0};
  PagedTensors t(p);
  run_ok(call(t, p));
  expect_elements(t.out, [](const Index&) { return 0.0; });
}

TEST_P(PagedAttentionTest, WrongPagesAndLengthsAreRefused) {
  const Paging p;
  PagedTensors t(p);
  for (double bad : {-1.0, 17.0, 1e9}) {
    Window table = t.table;
    table.set({1, 2}, bad);
    EXPECT_EQ(code_of(call_of(t, p, &table, &t.lengths)), Code::kOutOfRange);
  }
  for (double bad : {-1.0, 13.0, 1e9}) {
    Window lengths = t.lengths;
    lengths.set({3}, bad);
    EXPECT_EQ(code_of(call_of(t, p, &t.table, &lengths)), Code::kOutOfRange);
  }
  const Paging none{.lengths = {1}, .row_pages = 1, .pages = 0};
  PagedTensors without(none);
  EXPECT_EQ(code_of(call(without, none)), Code::kOutOfRange);
}

TEST_P(PagedAttentionTest, RefusesWhatItCannotDo) {
  const Paging p;
  PagedTensors t(p);
  Window reals(Dtype::kF32, {5, 3}), flat(Dtype::kI32, {15}), few(Dtype::kI32, {4, 3});
  for (const Window* table : {&reals, &flat, &few})
    EXPECT_EQ(code_of(call_of(t, p, table, &t.lengths)), Code::kInvalidArgument);
  Window real_lengths(Dtype::kF32, {5}), more(Dtype::kI32, {6});
  for (const Window* lengths : {&real_lengths, &more})
    EXPECT_EQ(code_of(call_of(t, p, &t.table, lengths)), Code::kInvalidArgument);
  Window heads(p.dtype, {17, 4, 3, 8});
  EXPECT_EQ(code_of({"sdpa_paged", {&t.q, &heads, &t.v, &t.table, &t.lengths}, {&t.out}, {}}),
            Code::kInvalidArgument);
  Window other(Dtype::kF32, {17, 4, 2, 8});
  EXPECT_EQ(code_of({"sdpa_paged", {&t.q, &other, &t.v, &t.table, &t.lengths}, {&t.out}, {}}),
            Code::kUnimplemented);
  EXPECT_EQ(code_of({"sdpa_paged", {&t.q, &t.k, &t.v, &t.table}, {&t.out}, {}}),
            Code::kInvalidArgument);
}

SHW_CTS(PagedAttentionTest);

}  // namespace
}  // namespace shw::cts
