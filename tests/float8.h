// 8-bit floats computed from their definition. Tests use them as a reference, so they share no code
// with the library.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "tensor/dtype.h"

namespace shw::testing {

// The value of a pattern with `mantissa` mantissa bits and this bias, read as a finite number: no
// exponent is reserved for NaN or infinity.
inline double plain_float8(int bits, int mantissa, int bias) {
  const int exponent = (bits & 0x7f) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << mantissa);
  const double magnitude =
      std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - mantissa);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

// The value of a pattern, NaN and infinity included.
inline double float8_value(Dtype dtype, uint8_t bits) {
  const int magnitude = bits & 0x7f;
  if (dtype == Dtype::kF8E4M3) return magnitude == 0x7f ? NAN : plain_float8(bits, 3, 7);
  if (magnitude > 0x7c) return NAN;
  if (magnitude == 0x7c) return bits == magnitude ? INFINITY : -INFINITY;
  return plain_float8(bits, 2, 15);
}

// The pattern nearest to x. Of two equally near patterns the result is the even one. The pattern
// after the largest finite number (NaN or infinity) counts as the number that would come next.
inline uint8_t nearest_float8(Dtype dtype, double x) {
  const bool is_e4m3 = dtype == Dtype::kF8E4M3;
  const int last = is_e4m3 ? 0x7f : 0x7c, mantissa = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15;
  const int sign = std::signbit(x) ? 0x80 : 0;
  if (std::isnan(x)) return static_cast<uint8_t>(sign | 0x7f);
  int nearest = last;
  if (std::abs(x) < plain_float8(last, mantissa, bias)) {
    double least = INFINITY;
    for (int bits = 0; bits <= last; ++bits) {
      const double distance = std::abs(std::abs(x) - plain_float8(bits, mantissa, bias));
      if (distance > least || (distance == least && bits % 2 != 0)) continue;
      least = distance;
      nearest = bits;
    }
  }
  return static_cast<uint8_t>(sign | nearest);
}

inline constexpr std::array kFloat8 = {Dtype::kF8E4M3, Dtype::kF8E5M2};

}  // namespace shw::testing
