#include "tensor/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "float8.h"

namespace shw {
namespace {

using testing::float8_value;
using testing::kFloat8;
using testing::nearest_float8;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float widened(Dtype dtype, uint8_t bits) {
  return dtype == Dtype::kF8E4M3 ? f8e4m3_to_f32(bits) : f8e5m2_to_f32(bits);
}
int narrowed(Dtype dtype, float x) {
  return dtype == Dtype::kF8E4M3 ? f32_to_f8e4m3(x) : f32_to_f8e5m2(x);
}

TEST(Float8, EveryPatternHasItsValueAndComesBack) {
  for (Dtype dtype : kFloat8)
    for (int bits = 0; bits < 256; ++bits) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(bits));
      const auto pattern = static_cast<uint8_t>(bits);
      const float got = widened(dtype, pattern);
      const double want = float8_value(dtype, pattern);
      EXPECT_EQ(std::signbit(got), bits >= 0x80);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got));
        EXPECT_EQ(narrowed(dtype, got), (bits & 0x80) | 0x7f);
      } else {
        EXPECT_EQ(got, want);
        EXPECT_EQ(narrowed(dtype, got), bits);
      }
    }
}

// Representable numbers, values half-way between neighbours, and values just beside these.
TEST(Float8, RoundsToTheNearestAndTiesToEven) {
  for (Dtype dtype : kFloat8) {
    const int last = dtype == Dtype::kF8E4M3 ? 0x7e : 0x7b;
    for (int bits = 0; bits < last; ++bits) {
      const float low = widened(dtype, static_cast<uint8_t>(bits)),
                  high = widened(dtype, static_cast<uint8_t>(bits + 1));
      const float middle = (low + high) / 2;
      for (float x : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high),
                      std::nextafter(low, high)})
        for (float y : {x, -x})
          EXPECT_EQ(narrowed(dtype, y), nearest_float8(dtype, y)) << dtype_name(dtype) << " " << y;
      EXPECT_EQ(narrowed(dtype, middle) % 2, 0);
    }
  }
}

// Numbers with every exponent of f32, including subnormal ones.
TEST(Float8, RoundsNumbersOfEveryMagnitude) {
  for (Dtype dtype : kFloat8)
    for (uint32_t exponent = 0; exponent < 255; ++exponent)
      for (uint32_t i = 0; i < 64; ++i) {
        const uint32_t fraction = i * 0x20411u + (i % 3) * 0x1fu;
        const auto x = std::bit_cast<float>(exponent << 23 | (fraction & 0x7fffffu));
        ASSERT_EQ(narrowed(dtype, x), nearest_float8(dtype, x)) << dtype_name(dtype) << " " << x;
        ASSERT_EQ(narrowed(dtype, -x), nearest_float8(dtype, -x)) << dtype_name(dtype) << " " << -x;
      }
}

TEST(Float8, WhatIsTooLargeIsNanInE4M3AndInfiniteInE5M2) {
  EXPECT_EQ(f32_to_f8e4m3(464), 0x7e);  // a tie: 448 is even
  EXPECT_EQ(f32_to_f8e4m3(std::nextafter(464.0f, kInfinity)), 0x7f);
  EXPECT_EQ(f32_to_f8e4m3(-1e30f), 0xff);
  EXPECT_EQ(f32_to_f8e4m3(kInfinity), 0x7f);
  EXPECT_EQ(f32_to_f8e4m3(-kInfinity), 0xff);
  EXPECT_EQ(f32_to_f8e5m2(std::nextafter(61440.0f, 0.0f)), 0x7b);
  EXPECT_EQ(f32_to_f8e5m2(61440), 0x7c);  // a tie: the next one is even
  EXPECT_EQ(f32_to_f8e5m2(-1e30f), 0xfc);
  EXPECT_EQ(f32_to_f8e5m2(kInfinity), 0x7c);
  EXPECT_EQ(f32_to_f8e5m2(std::numeric_limits<float>::quiet_NaN()), 0x7f);
}

TEST(Float8, AreFloatingDtypesOfOneByte) {
  const char* const names[] = {"f8e4m3fn", "f8e5m2"};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(dtype_name(kFloat8[i]), names[i]);
    EXPECT_EQ(dtype_from_name(names[i]), kFloat8[i]);
    EXPECT_EQ(dtype_size(kFloat8[i]), 1);
    EXPECT_TRUE(is_floating(kFloat8[i]) && is_float8(kFloat8[i]));
  }
  EXPECT_EQ(static_cast<int>(Dtype::kF8E4M3), 12);
  EXPECT_EQ(static_cast<int>(Dtype::kF8E5M2), 13);
  EXPECT_FALSE(dtype_from_number(14).has_value());
}

}  // namespace
}  // namespace shw
