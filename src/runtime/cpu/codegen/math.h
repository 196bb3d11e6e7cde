// Functions that the C library offers only for single numbers, as branch-free code that vectorises.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/cpu/codegen/formula.h"

namespace shw::runtime::cpu {

// e^x within 1 ulp over the whole range, subnormal results and infinity included. Range reduction
// x = n·ln2 + r with ln2 in two parts (Cody and Waite), then a polynomial of degree 6 in r with
// coefficients fitted on |r| ≤ ln2/2 (those of Cephes' expf).
inline float fast_exp(float x) {
  x = x > 89.0f ? 89.0f : x;      // e^89 overflows
  x = x < -104.0f ? -104.0f : x;  // e^-104 underflows to zero
  constexpr float kRound =
      // 1.5·2^23: adding it leaves the nearest integer in the lowest bits.
      12582912.0f;
  const float shifted = x * 1.44269504088896341f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  // Multiply by 2^n in two factors, because 2^n itself may be out of range. For a NaN the factors
  // are meaningless, but p is NaN.
  const int32_t bits = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const int32_t half = bits >> 1;
  const auto power = [](int32_t e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return p * power(half) * power(bits - half);
}
inline double fast_exp(double x) { return std::exp(x); }

// tanh x within 2 ulp (f64: the C library's). Near 0 an odd polynomial (that of Cephes' tanhf),
// beyond it 1 − 2/(e^2x + 1), which loses nothing there.
template <Real T>
T fast_tanh(T x) {
  using std::abs, std::copysign;
  const T a = abs(x), z = x * x;
  T p = T{-5.70498872745e-3f};
  p = p * z + T{2.06390887954e-2f};
  p = p * z - T{5.37397155531e-2f};
  p = p * z + T{1.33314422036e-1f};
  p = p * z - T{3.33332819422e-1f};
  const T near = x + x * (z * p);
  const T far = T{1.0f} - T{2.0f} / (fast_exp(a + a) + T{1.0f});
  // NaN takes the `far` branch: 1 − 2/NaN.
  return copysign(select_less(a, T{0.625f}, near, far), x);
}
inline double fast_tanh(double x) { return std::tanh(x); }

// erf x within 2 ulp (f64: the C library's). Near 0 an odd polynomial, beyond it 1 − e^q(|x|) with
// a polynomial q that approximates ln(1 − erf); both were fitted by N. Juffa (CUDA's erff in
// single-precision parts).
template <Real T>
T fast_erf(T x) {
  using std::abs, std::copysign;
  const T a = abs(x), z = x * x;
  T p = T{-5.96761703e-4f};
  p = p * z + T{4.99119423e-3f};
  p = p * z - T{2.67681349e-2f};
  p = p * z + T{1.12819925e-1f};
  p = p * z - T{3.76125336e-1f};
  p = p * z + T{1.28379166e-1f};
  const T near = x + x * p;
  const T t = select_less(T{4.0f}, a, T{4.0f}, a);  // erf 4 rounds to 1
  T q = T{-1.72853470e-5f} * t + T{3.83197126e-4f};
  q = q * (t * t) + (T{-3.88396438e-3f} * t + T{2.42546219e-2f});
  q = q * t - T{1.06777877e-1f};
  q = q * t - T{6.34846687e-1f};
  q = q * t - T{1.28717512e-1f};
  const T far = copysign(T{1.0f} - fast_exp(q * t - t), x);
  return select_less(T{0.927734375f}, a, far, near);  // NaN takes the `near` branch
}
inline double fast_erf(double x) { return std::erf(x); }

// ln x within 1 ulp. x = m·2^e with m from √½ to √2, ln x = ln m + e·ln2, where ln2 is in two parts
// and ln m a polynomial in m − 1 (those of Cephes' logf).
inline float fast_log(float x) {
  constexpr float kLeastNormal = 0x1p-126f, kInfinity = std::numeric_limits<float>::infinity();
  const bool subnormal = x < kLeastNormal;
  const float scaled = subnormal ? x * 0x1p23f : x;
  constexpr uint32_t kHalfRoot = 0x3f3504f3;                           // the bits of √½
  const uint32_t above = std::bit_cast<uint32_t>(scaled) - kHalfRoot;  // wraps where x < 0
  const int32_t exponent = static_cast<int32_t>(above) >> 23;
  const float m = std::bit_cast<float>((above & 0x7fffff) + kHalfRoot) - 1.0f;
  const float e = static_cast<float>(exponent - (subnormal ? 23 : 0)), z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float y = (m * z * p + e * -2.12194440e-4f) - 0.5f * z;
  const float ln = (m + y) + e * 0.693359375f;
  const float defined = x < kInfinity ? ln : x;  // ln of infinity and NaN is the argument itself
  const float at_zero = x == 0 ? -kInfinity : defined;
  return x < 0 ? std::numeric_limits<float>::quiet_NaN() : at_zero;
}
inline double fast_log(double x) { return std::log(x); }

}  // namespace shw::runtime::cpu
