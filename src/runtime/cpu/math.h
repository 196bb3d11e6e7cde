// Functions that the C library has only one number at a time, as flat code that vectorises.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace shw::runtime::cpu {

// e^x within 1 ulp over the whole range, subnormal results and infinity included. Range reduction
// x = n·ln2 + r with ln2 in two parts (Cody and Waite), then a polynomial of degree 6 in r with
// coefficients fitted on |r| ≤ ln2/2 (those of Cephes' expf).
inline float fast_exp(float x) {
  x = x > 89.0f ? 89.0f : x;      // e^89 overflows
  x = x < -104.0f ? -104.0f : x;  // e^-104 underflows to zero
  constexpr float kRound =
      12582912.0f;  // 1.5·2^23: adding it leaves the nearest integer at the bottom
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
  // 2^n in two factors, as 2^n itself may be out of range. A NaN makes garbage here, but p is NaN.
  const int32_t bits = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const int32_t half = bits >> 1;
  const auto power = [](int32_t e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return p * power(half) * power(bits - half);
}
inline double fast_exp(double x) { return std::exp(x); }

}  // namespace shw::runtime::cpu
