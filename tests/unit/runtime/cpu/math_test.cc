// Compares the vectorised functions with those of the C library in f64: all magnitudes, densely
// sampled, and the values at the limits of f32.
#include "runtime/cpu/codegen/math.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The error of an f32 value in units in the last place of `want`.
double error_in_ulp(float got, double want) {
  const auto nearest = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : HUGE_VAL;
  const float size = std::fabs(nearest);
  const double unit = static_cast<double>(std::nextafter(size, kInfinity) - size);
  return std::fabs(static_cast<double>(got) - want) / unit;
}

void check(float (*fast)(float), double (*exact)(double), double ulp) {
  constexpr uint64_t kStep = 4099;  // a prime: each exponent gets different mantissas
  double worst = 0;
  float at = 0;
  const auto look_at = [&](float x) {
    const double error = error_in_ulp(fast(x), exact(static_cast<double>(x)));
    if (!(error <= worst)) {
      worst = error;
      at = x;
    }
  };
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStep)
    look_at(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, kInfinity, -kInfinity, kNan, 1e-45f, -1e-45f, 1e-38f,
                  std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()})
    look_at(x);
  EXPECT_LE(worst, ulp) << "at " << at;
}

TEST(Math, ExpIsWithinAnUlp) {
  check([](float x) { return fast_exp(x); }, [](double x) { return std::exp(x); }, 1);
}
TEST(Math, TanhIsWithinTwoUlp) {
  check([](float x) { return fast_tanh(x); }, [](double x) { return std::tanh(x); }, 2);
  EXPECT_TRUE(std::signbit(fast_tanh(-0.0f)));
}
TEST(Math, ErfIsWithinTwoUlp) {
  check([](float x) { return fast_erf(x); }, [](double x) { return std::erf(x); }, 2);
  EXPECT_TRUE(std::signbit(fast_erf(-0.0f)));
}
TEST(Math, LogIsWithinAnUlp) {
  check([](float x) { return fast_log(x); }, [](double x) { return std::log(x); }, 1);
}

// Holds for every vector width, so ranks on different machines compute the same bits.
TEST(Math, LoopsOfAnyWidthGiveTheSameBits) {
  constexpr int64_t kCount = 1003;
  std::vector<float> plain(kCount), vectors(kCount), longer(kCount);
  const auto f = [](int64_t i) {
    const float x = static_cast<float>(i - 500) * 0.0173f;
    return fast_exp(x) + fast_tanh(x) * fast_erf(x);
  };
  for (int64_t i = 0; i < kCount; ++i) plain[static_cast<size_t>(i)] = f(i);
  vector_loop(kCount, [f, to = vectors.data()](int64_t i) { to[i] = f(i); });
  long_vector_loop(kCount, [f, to = longer.data()](int64_t i) { to[i] = f(i); });
  EXPECT_EQ(vectors, plain);
  EXPECT_EQ(longer, plain);
}

}  // namespace
}  // namespace shw::runtime::cpu
