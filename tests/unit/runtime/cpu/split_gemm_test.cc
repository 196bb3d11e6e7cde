// Products of f32 that the matrix unit computes as products of bf16: which bits they give, and how
// close these are to the true values. On machines without that unit, other code must compute the
// products.
#include "runtime/cpu/split_gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/cpu/gemm.h"
#include "runtime/half.h"

namespace shw::runtime::cpu {
namespace {

constexpr float kUntouched = 77;

// A row-major matrix, or its transpose with `across`.
struct Numbers {
  int64_t rows, columns;
  bool across = false;
  std::vector<float> data = std::vector<float>(static_cast<size_t>(rows * columns));

  float& at(int64_t r, int64_t c) {
    return data[static_cast<size_t>(across ? c * rows + r : r * columns + c)];
  }
  Matrix<const float> matrix() const {
    return {data.data(), across ? 1 : columns, across ? rows : 1};
  }
  void fill(auto&& number) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) at(r, c) = number(r, c);
  }
};

void no_fallback(const Gemm<float>&) { ADD_FAILURE() << "the product went to `plain`"; }

// The product C. Two columns after its last column must stay unwritten.
std::vector<float> multiply(const Numbers& a, const Numbers& b, float accumulate_to = 0,
                            void (*plain)(const Gemm<float>&) = &no_fallback) {
  const int64_t m = a.rows, n = b.columns, pitch = n + 2;
  std::vector<float> c(static_cast<size_t>(m * pitch), kUntouched);
  for (int64_t i = 0; accumulate_to != 0 && i < m; ++i)
    std::fill_n(&c[static_cast<size_t>(i * pitch)], n, accumulate_to);
  Gemm<float> g{m, n, a.columns, a.matrix(), b.matrix(), {c.data(), pitch, 1}, accumulate_to != 0};
  const int64_t size = split_gemm_scratch(g);
  EXPECT_GT(size, 0);
  std::vector<float> scratch(static_cast<size_t>(size), std::numeric_limits<float>::quiet_NaN());
  g.scratch = scratch.data();
  split_gemm(g, plain);
  std::vector<float> gapless;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < pitch; ++j) {
      const float x = c[static_cast<size_t>(i * pitch + j)];
      if (j < n)
        gapless.push_back(x);
      else
        EXPECT_EQ(x, kUntouched) << "behind row " << i;
    }
  return gapless;
}

class SplitGemm : public ::testing::Test {
 protected:
  void SetUp() override {
    const Matrix<const float> rows{nullptr, 512, 1};
    if (split_gemm_scratch({512, 512, 512, rows, rows, {nullptr, 512, 1}}) == 0)
      GTEST_SKIP() << "no matrix unit";
  }
  float random() { return normal_(generator_); }

  std::mt19937 generator_{7};
  std::normal_distribution<float> normal_;
};

// Small integers need only one part. The sizes are near those of tiles, panels and blocks.
TEST_F(SplitGemm, MultipliesTilesPanelsAndBlocksOfEverySize) {
  for (const auto& size : std::vector<std::array<int64_t, 3>>{{128, 128, 32},
                                                              {129, 145, 33},
                                                              {143, 161, 47},
                                                              {257, 95, 64},
                                                              {100, 2051, 40},
                                                              {300, 170, 513},
                                                              {96, 200, 1030}})
    for (const bool a_across : {false, true})
      for (const bool b_across : {false, true})
        for (const float before : {0.0f, 3.0f}) {
          const int64_t m = size[0], n = size[1], k = size[2];
          SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << (a_across ? " At" : " A")
                                          << (b_across ? " Bt" : " B") << " += " << before);
          Numbers a{m, k, a_across}, b{k, n, b_across};
          a.fill([](int64_t r, int64_t c) { return static_cast<float>((r * 7 + c * 5) % 9 - 4); });
          b.fill([](int64_t r, int64_t c) { return static_cast<float>((r * 3 + c * 5) % 7 - 3); });
          Numbers want{m, n};
          want.fill([&](int64_t r, int64_t c) {
            float sum = before;
            for (int64_t p = 0; p < k; ++p) sum += a.at(r, p) * b.at(p, c);
            return sum;
          });
          ASSERT_EQ(multiply(a, b, before), want.data);
        }
}

// Every number of 24 bits must come back unchanged: its three parts lose nothing. The scales of the
// rows range from the smallest to the largest numbers whose parts the unit can represent.
TEST_F(SplitGemm, APermutationKeepsEveryBit) {
  constexpr int64_t kRows = 200, kSize = 140;
  const auto number = [&](int64_t r) { return std::ldexp(random(), static_cast<int>(r) - 90); };
  const auto moved = [](int64_t i) { return (i * 37 + 5) % kSize; };
  for (const bool across : {false, true}) {
    Numbers a{kRows, kSize, across}, moves{kSize, kSize, across}, want{kRows, kSize};
    a.fill([&](int64_t r, int64_t) { return number(r); });
    moves.fill([&](int64_t r, int64_t c) { return moved(r) == c ? 1.0f : 0.0f; });
    want.fill([&](int64_t, int64_t) { return 0.0f; });
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < kSize; ++c) want.at(r, moved(c)) = a.at(r, c);
    EXPECT_EQ(multiply(a, moves), want.data);

    Numbers b{kSize, kRows, across}, of_rows{kSize, kRows};
    b.fill([&](int64_t, int64_t c) { return number(c); });
    for (int64_t r = 0; r < kSize; ++r)
      for (int64_t c = 0; c < kRows; ++c) of_rows.at(r, c) = b.at(moved(r), c);
    EXPECT_EQ(multiply(moves, b), of_rows.data);
  }
}

// Products of numbers with one, two and three parts. They are exact if the product has 24 bits.
// Otherwise the error is less than one unit in the last place.
TEST_F(SplitGemm, ASingleTermIsExactOrAUnitOff) {
  constexpr int64_t kSize = 130;
  // Integers with this many bits. They are odd, so that all bits matter.
  const auto integer = [&](int bits) {
    return static_cast<float>((generator_() & ((1U << bits) - 1)) | 1U | (1U << (bits - 1)));
  };
  for (const int a_bits : {8, 12, 16, 24})
    for (const int b_bits : {8, 12, 16, 24}) {
      SCOPED_TRACE(testing::Message() << a_bits << " by " << b_bits << " bits");
      Numbers a{kSize, kSize}, b{kSize, kSize};
      a.fill([&](int64_t r, int64_t c) { return r == c ? integer(a_bits) : 0.0f; });
      b.fill([&](int64_t, int64_t) { return integer(b_bits); });
      const std::vector<float> c = multiply(a, b);
      double largest = 0;
      for (int64_t i = 0; i < kSize * kSize; ++i) {
        const auto at = static_cast<size_t>(i);
        const double want = static_cast<double>(a.at(i / kSize, i / kSize)) * b.data[at];
        largest = std::max(largest, std::abs(c[at] - want) / want);
      }
      EXPECT_LE(largest, a_bits + b_bits <= 24 ? 0 : std::ldexp(1.0, -23));
    }
}

struct Errors {
  double rms = 0, largest = 0;  // as shares of the sum of the terms' magnitudes
};
Errors errors(Numbers& a, Numbers& b, const std::vector<float>& c) {
  Errors e;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t p = 0; p < a.columns; ++p) {
        const double term = static_cast<double>(a.at(i, p)) * b.at(p, j);
        sum += term;
        magnitude += std::abs(term);
      }
      const double error =
          std::abs(static_cast<double>(c[static_cast<size_t>(i * b.columns + j)]) - sum) /
          magnitude;
      e.rms += error * error / static_cast<double>(c.size());
      e.largest = std::max(e.largest, error);
    }
  e.rms = std::sqrt(e.rms);
  return e;
}

TEST_F(SplitGemm, IsAsCloseAsFusedMultiplyAdds) {
  for (const int64_t k : {32, 128, 512, 2048})
    for (const bool positive : {false, true}) {
      constexpr int64_t kSize = 128;
      Numbers a{kSize, k}, b{k, kSize};
      const auto number = [&](int64_t, int64_t) {
        return positive ? std::abs(random()) : random();
      };
      a.fill(number);
      b.fill(number);
      const Errors split = errors(a, b, multiply(a, b));
      std::vector<float> fused(static_cast<size_t>(kSize * kSize));
      for (int64_t i = 0; i < kSize; ++i)
        for (int64_t j = 0; j < kSize; ++j) {
          float& sum = fused[static_cast<size_t>(i * kSize + j)];
          for (int64_t p = 0; p < k; ++p) sum = std::fma(a.at(i, p), b.at(p, j), sum);
        }
      const Errors by_vectors = errors(a, b, fused);
      SCOPED_TRACE(testing::Message() << k << (positive ? " positive" : "") << " terms: "
                                      << split.rms << ", " << by_vectors.rms << ", largest "
                                      << split.largest << ", " << by_vectors.largest);
      EXPECT_LE(split.rms, by_vectors.rms);
      EXPECT_LE(split.largest, 1.5 * by_vectors.largest);
    }
}

TEST_F(SplitGemm, AnElementHasTheSameBitsWhateverIsComputedBesideIt) {
  constexpr int64_t kSize = 300, kTerms = 1100, kPart = 150;
  Numbers a{kSize, kTerms}, b{kTerms, kSize};
  a.fill([&](int64_t, int64_t) { return random(); });
  b.fill([&](int64_t, int64_t) { return random(); });
  const std::vector<float> whole = multiply(a, b, 0.1f);
  for (const int64_t row : {int64_t{0}, kPart})
    for (const int64_t column : {int64_t{0}, kPart}) {
      Numbers rows{kPart, kTerms}, columns{kTerms, kPart};
      rows.fill([&](int64_t r, int64_t c) { return a.at(row + r, c); });
      columns.fill([&](int64_t r, int64_t c) { return b.at(r, column + c); });
      const std::vector<float> part = multiply(rows, columns, 0.1f);
      for (int64_t r = 0; r < kPart; ++r)
        for (int64_t c = 0; c < kPart; ++c)
          ASSERT_EQ(part[static_cast<size_t>(r * kPart + c)],
                    whole[static_cast<size_t>((row + r) * kSize + column + c)]);
    }
}

// By IEEE 754, infinity times a number is infinity, although two of the number's parts may be zero.
TEST_F(SplitGemm, InfinitiesNansAndTheLargestNumbersAreAsIeeeHasThem) {
  constexpr int64_t kRows = 600, kTerms = 700, kColumns = 128;
  constexpr float kInfinite = std::numeric_limits<float>::infinity(),
                  kLargest = std::numeric_limits<float>::max();
  for (const float special : {kInfinite, -kInfinite, std::nanf(""), kLargest, -kLargest})
    for (const bool in_a : {true, false})
      for (const int64_t term : {0, 699}) {
        SCOPED_TRACE(testing::Message() << special << (in_a ? " in A, " : " in B, ") << term);
        Numbers a{kRows, kTerms}, b{kTerms, kColumns};
        a.fill([](int64_t, int64_t c) { return c % 2 == 0 ? 1.0f : -0.5f; });
        b.fill([](int64_t r, int64_t) { return r % 4 == 0 ? 1.0f : 0.25f; });
        if (in_a)
          a.at(500, term) = special;
        else
          b.at(term, 100) = special;
        Numbers want{kRows, kColumns};
        plain_gemm<float>(
            {kRows, kColumns, kTerms, a.matrix(), b.matrix(), {want.data.data(), kColumns, 1}});
        const std::vector<float> c = multiply(a, b, 0, &plain_gemm<float>);
        for (size_t i = 0; i < c.size(); ++i) {
          if (std::isnan(want.data[i]))
            ASSERT_TRUE(std::isnan(c[i])) << i;
          else
            ASSERT_EQ(c[i], want.data[i]) << i;
        }
      }
}

// Small integers, which bf16 can represent, with an infinity and a NaN among them.
TEST_F(SplitGemm, ProductsOfBf16AreThoseOfTheirNumbers) {
  for (const int64_t k : {33, 530})
    for (const bool a_across : {false, true})
      for (const bool b_across : {false, true})
        for (const bool finite : {true, false}) {
          SCOPED_TRACE(testing::Message() << k << (a_across ? " At" : " A")
                                          << (b_across ? " Bt" : " B") << (finite ? "" : ", inf"));
          Numbers a{301, k, a_across}, b{k, 145, b_across}, want{301, 145};
          a.fill([](int64_t r, int64_t c) { return static_cast<float>((r * 7 + c * 5) % 9 - 4); });
          b.fill([](int64_t r, int64_t c) { return static_cast<float>((r * 3 + c * 5) % 7 - 3); });
          if (!finite) {
            a.at(300, 2) = std::numeric_limits<float>::infinity();
            b.at(k - 1, 144) = std::nanf("");
          }
          plain_gemm<float>({301, 145, k, a.matrix(), b.matrix(), {want.data.data(), 145, 1}});
          const auto bits_of = [](const Numbers& x) {
            std::vector<uint16_t> bits;
            for (const float number : x.data) bits.push_back(f32_to_bf16(number));
            return bits;
          };
          const std::vector<uint16_t> a_bits = bits_of(a), b_bits = bits_of(b);
          const Matrix<const float> as = a.matrix(), bs = b.matrix();
          std::vector<float> c(want.data.size(), kUntouched);
          Bf16Gemm g{301,
                     145,
                     k,
                     {a_bits.data(), as.row_stride, as.column_stride},
                     {b_bits.data(), bs.row_stride, bs.column_stride},
                     {c.data(), 145, 1}};
          std::vector<float> scratch(static_cast<size_t>(bf16_gemm_scratch(g)),
                                     std::numeric_limits<float>::quiet_NaN());
          g.scratch = scratch.data();
          bf16_gemm(g);
          for (size_t i = 0; i < c.size(); ++i) {
            if (std::isnan(want.data[i]))
              ASSERT_TRUE(std::isnan(c[i])) << i;
            else
              ASSERT_EQ(c[i], want.data[i]) << i;
          }
        }
}

TEST_F(SplitGemm, LeavesSmallProductsAndOperandsWithGapsToOthers) {
  const Matrix<const float> rows{nullptr, 512, 1}, gaps{nullptr, 1024, 2};
  const Matrix<float> to{nullptr, 512, 1};
  EXPECT_EQ(split_gemm_scratch({64, 512, 512, rows, rows, to}), 0);
  EXPECT_EQ(split_gemm_scratch({512, 64, 512, rows, rows, to}), 0);
  EXPECT_EQ(split_gemm_scratch({512, 512, 31, rows, rows, to}), 0);
  EXPECT_EQ(split_gemm_scratch({512, 512, 0, rows, rows, to}), 0);
  EXPECT_EQ(split_gemm_scratch({512, 512, 512, gaps, rows, to}), 0);
  EXPECT_EQ(split_gemm_scratch({512, 512, 512, rows, gaps, to}), 0);
}

}  // namespace
}  // namespace shw::runtime::cpu
