// The matrix product behind the CPU kernels, with and without oneDNN, for all memory layouts of the
// operands. Values are small integers, so bits are compared.
#include "runtime/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/cpu/direct_gemm.h"
#include "runtime/cpu/packed_gemm.h"

namespace shw::runtime::cpu {
namespace {

struct Operand {
  std::vector<float> data;
  Matrix<const float> matrix;
};

// A rows × columns matrix, stored by rows or by columns, with `gap` elements between these.
Operand make_operand(int64_t rows, int64_t columns, bool by_rows, int64_t gap, int salt) {
  Operand x;
  const int64_t pitch = (by_rows ? columns : rows) + gap;
  x.data.assign(static_cast<size_t>((by_rows ? rows : columns) * pitch + 1), 1e30f);
  x.matrix = {nullptr, by_rows ? pitch : 1, by_rows ? 1 : pitch};
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      x.data[static_cast<size_t>(r * x.matrix.row_stride + c * x.matrix.column_stride)] =
          static_cast<float>((r * 7 + c * 5 + salt) % 9 - 4);
  return x;
}

void check(int64_t m, int64_t n, int64_t k, bool a_rows, bool b_rows, int64_t gap, bool accumulate,
           void (*product)(const Gemm<float>&)) {
  SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
               (a_rows ? " A" : " At") + (b_rows ? " B" : " Bt") + (accumulate ? " +=" : ""));
  Operand a = make_operand(m, k, a_rows, gap, 0), b = make_operand(k, n, b_rows, gap, 3);
  a.matrix.data = a.data.data();
  b.matrix.data = b.data.data();
  const int64_t pitch = n + gap;
  std::vector<float> c(static_cast<size_t>(m * pitch + 1), 2);
  std::vector<float> want = c;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = accumulate ? 2 : 0;
      for (int64_t p = 0; p < k; ++p) sum += a.matrix.at(i, p) * b.matrix.at(p, j);
      want[static_cast<size_t>(i * pitch + j)] = sum;
    }
  Gemm<float> g{m, n, k, a.matrix, b.matrix, {c.data(), pitch, 1}, accumulate};
  std::vector<float> scratch(static_cast<size_t>(gemm_scratch(g)));
  if (!scratch.empty()) g.scratch = scratch.data();
  product(g);
  EXPECT_EQ(c, want);
}

void check_all(void (*product)(const Gemm<float>&)) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size& s : {Size{1, 1, 1},
                        {3, 5, 7},
                        {1, 9, 4},
                        {9, 1, 4},
                        {4, 64, 128},
                        {5, 65, 129},
                        {70, 131, 260},
                        {3, 4, 0},
                        {0, 4, 3},
                        {3, 0, 4},
                        {600, 8, 16},  // more rows than are multiplied at a time
                        {258, 130, 517}})
    for (bool a_rows : {true, false})
      for (bool b_rows : {true, false})
        for (int64_t gap : {0, 3})
          for (bool accumulate : {false, true})
            check(s.m, s.n, s.k, a_rows, b_rows, gap, accumulate, product);
}

TEST(Gemm, PlainLoopsMultiplyEveryWindow) { check_all(&plain_gemm<float>); }

TEST(Gemm, TheFastProductMultipliesEveryWindow) { check_all(&gemm<float>); }

TEST(Gemm, PlainLoopsTakeOperandsWithoutAGaplessDim) {
  const float a[] = {1, 9, 2, 9, 9, 9, 3, 9, 4}, b[] = {5, 9, 6, 9, 9, 9, 7, 9, 8};
  float c[4];
  plain_gemm<float>({2, 2, 2, {a, 6, 2}, {b, 6, 2}, {c, 2, 1}});
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{19, 22, 43, 50}));
}

bool has_wide_vectors() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

// The weight gradients of a LLaMA layer have such operands. oneDNN needs 1.4 times as long for
// them.
TEST(Gemm, PacksLargeProductsWhoseLeftOperandIsTransposed) {
  const Gemm<float> weights{
      1536, 512, 2048, {nullptr, 1, 1536}, {nullptr, 512, 1}, {nullptr, 512, 1}};
  EXPECT_EQ(gemm_scratch(weights) > 0, has_wide_vectors());
  for (const bool b_rows : {true, false})
    for (const bool accumulate : {false, true})
      check(514, 290, 1100, false, b_rows, 3, accumulate, &gemm<float>);
}

void packed_or_plain(const Gemm<float>& g) {
  const int64_t size = packed_gemm_scratch(g);
  EXPECT_EQ(size > 0, has_wide_vectors());
  if (size == 0) return plain_gemm(g);
  std::vector<float> scratch(static_cast<size_t>(size), 1e30f);
  Gemm<float> with = g;
  with.scratch = scratch.data();
  packed_gemm(with);
}

TEST(PackedGemm, MultipliesTilesAndBlocksOfEverySize) {
  for (const int64_t m : {12, 13, 16, 17, 24, 35, 168, 181})
    for (const int64_t n : {32, 33, 47, 48, 49, 64, 95, 513, 545})
      for (const bool a_rows : {true, false})
        for (const bool b_rows : {true, false})
          check(m, n, 5, a_rows, b_rows, 3, m % 2 == 0, &packed_or_plain);
  for (const int64_t k : {1, 15, 256, 257, 513})
    for (const bool a_rows : {true, false})
      for (const bool b_rows : {true, false})
        for (const bool accumulate : {false, true})
          check(26, 70, k, a_rows, b_rows, 0, accumulate, &packed_or_plain);
}

// A rank that computes only some rows or columns thus gets the same bits as a rank that computes
// all of them.
TEST(PackedGemm, AnElementHasTheSameBitsWhateverIsComputedBesideIt) {
  if (!has_wide_vectors()) GTEST_SKIP() << "no vectors of 16 floats";
  constexpr int64_t kRows = 40, kColumns = 80, kTerms = 600;
  std::vector<float> a(kRows * kTerms), b(kTerms * kColumns), all(kRows * kColumns, 0.1f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
  std::vector<float> part = all;
  const auto multiply = [&](int64_t row, int64_t column, int64_t m, int64_t n, float* c) {
    packed_or_plain({m,
                     n,
                     kTerms,
                     {a.data() + row * kTerms, kTerms, 1},
                     {b.data() + column, kColumns, 1},
                     {c + row * kColumns + column, kColumns, 1},
                     true});
  };
  multiply(0, 0, kRows, kColumns, all.data());
  multiply(0, 0, 23, 33, part.data());
  multiply(23, 0, 17, 33, part.data());
  multiply(0, 33, kRows, 47, part.data());
  EXPECT_EQ(all, part);
}

TEST(PackedGemm, LeavesSmallProductsAndOperandsWithGapsToOthers) {
  const Matrix<const float> rows{nullptr, 512, 1}, gaps{nullptr, 1024, 2};
  const Matrix<float> to{nullptr, 512, 1};
  EXPECT_EQ(packed_gemm_scratch({11, 512, 512, rows, rows, to}), 0);
  EXPECT_EQ(packed_gemm_scratch({512, 31, 512, rows, rows, to}), 0);
  EXPECT_EQ(packed_gemm_scratch({512, 512, 0, rows, rows, to}), 0);
  EXPECT_EQ(packed_gemm_scratch({512, 512, 512, gaps, rows, to}), 0);
  EXPECT_EQ(packed_gemm_scratch({512, 512, 512, rows, gaps, to}), 0);
}

void direct_or_plain(const Gemm<float>& g) {
  const bool done = direct_gemm(g);
  EXPECT_EQ(done, has_wide_vectors());
  if (!done) plain_gemm(g);
}

TEST(DirectGemm, MultipliesTilesOfEverySize) {
  for (int64_t m = 1; m <= 17; ++m)
    for (const int64_t n : {1, 15, 16, 17, 31, 32, 33, 48, 63})
      for (const bool a_rows : {true, false})
        for (const bool accumulate : {false, true})
          check(m, n, 5, a_rows, true, 3, accumulate, &direct_or_plain);
}

// A row of the result thus has the same bits whatever it is computed with.
TEST(DirectGemm, AddsTermsInTheOrderOfTheirNumber) {
  if (!has_wide_vectors()) GTEST_SKIP() << "no vectors of 16 floats";
  constexpr int64_t kRows = 13, kColumns = 37, kTerms = 70;
  std::vector<float> a(kRows * kTerms), b(kTerms * kColumns), c(kRows * kColumns, 0.1f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i));
  std::vector<float> want = c;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t p = 0; p < kTerms; ++p)
      for (int64_t j = 0; j < kColumns; ++j) {
        float& sum = want[static_cast<size_t>(i * kColumns + j)];
        sum = std::fma(a[static_cast<size_t>(i * kTerms + p)],
                       b[static_cast<size_t>(p * kColumns + j)], sum);
      }
  ASSERT_TRUE(direct_gemm({kRows,
                           kColumns,
                           kTerms,
                           {a.data(), kTerms, 1},
                           {b.data(), kColumns, 1},
                           {c.data(), kColumns, 1},
                           true}));
  EXPECT_EQ(c, want);
}

TEST(DirectGemm, LeavesColumnsLargeProductsAndLongSumsToOthers) {
  std::vector<float> x(1 << 18, 1.0f), c(1 << 18, 7.0f);
  const Matrix<const float> rows{x.data(), 512, 1}, columns{x.data(), 1, 512};
  const Matrix<float> to{c.data(), 512, 1};
  EXPECT_FALSE(direct_gemm({4, 4, 4, rows, columns, to}));
  EXPECT_FALSE(direct_gemm({512, 4, 512, rows, rows, to}));
  EXPECT_FALSE(direct_gemm({4, 512, 512, rows, rows, to}));
  EXPECT_FALSE(direct_gemm({1, 4, 4096, rows, rows, to}));
  EXPECT_EQ(c, std::vector<float>(c.size(), 7.0f));
}

}  // namespace
}  // namespace shw::runtime::cpu
