// Sums and maxima of rows of every length, with full and with partly used vectors.
#include "runtime/cpu/row_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace shw::runtime::cpu {
namespace {

// Integers: their sums are exact in any order.
std::vector<float> numbers(int64_t n, int salt) {
  std::vector<float> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>((i * 7 + salt) % 23 - 11));
  return x;
}

TEST(RowSums, OfEveryLength) {
  for (int64_t n = 0; n < 70; ++n) {
    const std::vector<float> x = numbers(n, 1), y = numbers(n, 5);
    float sum = 0, product = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      sum += x[i];
      product += x[i] * y[i];
    }
    EXPECT_EQ(row_sum(x.data(), n), sum) << n;
    EXPECT_EQ(row_product(x.data(), y.data(), n), product) << n;
    EXPECT_EQ(wide_sum(x.data(), n), static_cast<double>(sum)) << n;
    EXPECT_EQ(wide_product(x.data(), y.data(), n), static_cast<double>(product)) << n;
  }
}

TEST(RowSums, TheLargestIsFoundWhereverItIs) {
  for (int64_t n = 1; n < 70; ++n)
    for (int64_t at = 0; at < n; ++at) {
      std::vector<float> x(static_cast<size_t>(n), -3);
      x[static_cast<size_t>(at)] = -2;
      ASSERT_EQ(row_max(x.data(), n), -2) << at << " of " << n;
    }
  EXPECT_EQ(row_max<float>(nullptr, 0), -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace shw::runtime::cpu
