// Random numbers: compares the functions behind them with the C library in extended precision, and
// checks the distribution.
#include "runtime/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace shw::runtime {
namespace {

double ulps(double got, long double want) {
  if (got == static_cast<double>(want)) return 0;
  const double unit =
      std::abs(std::nextafter(static_cast<double>(want), 1e9) - static_cast<double>(want));
  return static_cast<double>(std::abs(got - want)) / unit;
}

// Numbers spread over 0 … 2²⁴, including the points where the functions switch between ranges, and
// their neighbours.
std::vector<u64> places() {
  std::vector<u64> all;
  for (u64 n = 0; n < kRandomUnits; n += 61) all.push_back(n);
  for (u64 part = 0; part <= 8; ++part)
    for (u64 back = 0; back < 50; ++back) {
      all.push_back(kRandomUnits * part / 8 + back);
      if (kRandomUnits * part / 8 >= back) all.push_back(kRandomUnits * part / 8 - back);
    }
  return all;
}

TEST(Random, TheLogarithmIsRightWithinTwoUlp) {
  double worst = 0;
  for (u64 n : places()) {
    if (n == 0 || n > kRandomUnits) continue;
    worst = std::max(worst, ulps(log_of_units(n), std::log(n * 0x1p-24L)));
  }
  EXPECT_LE(worst, 2);
  EXPECT_EQ(log_of_units(kRandomUnits), 0);
}

TEST(Random, TheCosineIsRightWithinTwoUlp) {
  double worst = 0;
  for (u64 n : places()) {
    // The zeros of the cosine are exact.
    if (n >= kRandomUnits || n == kRandomUnits / 4 || n == kRandomUnits / 4 * 3) continue;
    // The C library's cosine is accurate only for accurate arguments, so the test uses the small
    // part of the turn.
    const u64 back = n > kRandomUnits / 2 ? kRandomUnits - n : n;
    const long double turn = static_cast<long double>(back) * 0x1p-24L;
    const long double pi = std::numbers::pi_v<long double>;
    const long double want = turn < 0.125L   ? std::cos(2 * pi * turn)
                             : turn < 0.375L ? std::sin(2 * pi * (0.25L - turn))
                                             : -std::cos(2 * pi * (0.5L - turn));
    worst = std::max(worst, ulps(cos_of_units(n), want));
  }
  EXPECT_LE(worst, 2);
  EXPECT_EQ(cos_of_units(0), 1);
  EXPECT_EQ(cos_of_units(kRandomUnits / 4), 0);
  EXPECT_EQ(cos_of_units(kRandomUnits / 2), -1);
}

// For n independent draws, the moments must be within five standard errors. The share of draws
// below each of several bounds must be within the Kolmogorov-Smirnov bound for a probability of
// 10⁻⁶.
TEST(Random, NormalNumbersAreDistributedAsSuch) {
  constexpr int kDraws = 200'000;
  const double error = 5 / std::sqrt(double{kDraws});
  std::vector<int> below(81, 0);  // -4, -3.9 … 4
  double moment[5] = {};
  for (u64 i = 0; i < kDraws; ++i) {
    const double x = static_cast<double>(random_normal(3, i));
    ASSERT_TRUE(std::isfinite(x));
    for (int p = 1; p < 5; ++p) moment[p] += std::pow(x, p) / kDraws;
    for (size_t b = 0; b < below.size(); ++b) below[b] += x < -4 + 0.1 * static_cast<double>(b);
  }
  EXPECT_NEAR(moment[1], 0, error);
  EXPECT_NEAR(moment[2], 1, error * std::sqrt(2));
  EXPECT_NEAR(moment[3], 0, error * std::sqrt(15));
  EXPECT_NEAR(moment[4], 3, error * std::sqrt(96));
  for (size_t b = 0; b < below.size(); ++b) {
    const double bound = -4 + 0.1 * static_cast<double>(b);
    EXPECT_NEAR(below[b] / double{kDraws}, std::erfc(-bound / std::numbers::sqrt2) / 2,
                2.7 / std::sqrt(double{kDraws}))
        << bound;
  }
}

TEST(Random, UnitsFillTheirRangeEvenly) {
  constexpr int kDraws = 100'000, kBins = 64;
  std::vector<int> found(kBins, 0);
  for (u64 i = 0; i < kDraws; ++i) {
    const float x = random_unit(5, i);
    ASSERT_TRUE(x >= 0 && x < 1 && x * 0x1p24f == std::floor(x * 0x1p24f)) << x;
    ++found[static_cast<size_t>(x * kBins)];
  }
  double chi = 0;
  for (int f : found) chi += std::pow(f - double{kDraws} / kBins, 2) / (double{kDraws} / kBins);
  EXPECT_LT(chi, 140);  // 63 degrees of freedom: exceeded with a probability of 10⁻⁷
}

}  // namespace
}  // namespace shw::runtime
