// Converts 8-bit floats, stored as bits, to and from f32. E4M3 is OCP's "fn" kind: S.1111.111 is
// NaN, and there is no infinity. E5M2 has infinities and NaN as IEEE 754 formats do.
//
// Conversion to 8 bits rounds to nearest, ties to even. A number that is too large becomes NaN in
// E4M3 and infinite in E5M2, as in PyTorch; it does not saturate. NaN stays NaN and keeps its sign.
//
// Device code includes this file, too.
#pragma once
#ifdef __CUDACC__
#define SHW_FLOAT8 __device__ inline
#define SHW_FLOAT8_NUMBER(bits) __uint_as_float(bits)
#define SHW_FLOAT8_BITS(number) __float_as_uint(number)
#else
#include <bit>
#define SHW_FLOAT8 constexpr
#define SHW_FLOAT8_NUMBER(bits) std::bit_cast<float>(bits)
#define SHW_FLOAT8_BITS(number) std::bit_cast<unsigned>(number)
#endif

namespace shw {

// |x| rounded to a float with `mantissa` bits and this bias, as if exponents had no upper limit.
template <unsigned mantissa, unsigned bias>
SHW_FLOAT8 unsigned rounded_float8(unsigned magnitude) {
  constexpr unsigned dropped = 23 - mantissa, least = 128 - bias;  // exponent of the least normal
  const unsigned exponent = magnitude >> 23;
  if (exponent >= least)
    return (magnitude - ((least - 1) << 23) + ((1u << (dropped - 1)) - 1) +
            (magnitude >> dropped & 1u)) >>
           dropped;
  // Subnormal results are multiples of the least number. A shift of more than 24 leaves 0.
  const unsigned far = dropped + least - exponent, shift = far < 25 ? far : 25;
  const unsigned significand = (magnitude & 0x7fffffu) | 0x800000u;
  return (significand + ((1u << (shift - 1)) - 1) + (significand >> shift & 1u)) >> shift;
}

SHW_FLOAT8 unsigned char f32_to_f8e4m3(float x) {
  constexpr unsigned nan = 0x7f;
  const unsigned bits = SHW_FLOAT8_BITS(x), magnitude = bits & 0x7fffffffu;
  const bool too_large = magnitude > 0x43e80000u;  // 464 is a tie, to 448
  return static_cast<unsigned char>((bits >> 24 & 0x80u) |
                                    (too_large ? nan : rounded_float8<3, 7>(magnitude)));
}

SHW_FLOAT8 unsigned char f32_to_f8e5m2(float x) {
  constexpr unsigned infinity = 0x7c, nan = 0x7f;
  const unsigned bits = SHW_FLOAT8_BITS(x), magnitude = bits & 0x7fffffffu;
  const unsigned beyond = magnitude > 0x7f800000u ? nan : infinity;
  const bool too_large = magnitude >= 0x47700000u;  // 61440 is a tie, to infinity
  return static_cast<unsigned char>((bits >> 24 & 0x80u) |
                                    (too_large ? beyond : rounded_float8<2, 15>(magnitude)));
}

// The bits are shifted to the positions of an f32, and the result is multiplied by 2^(127 - bias).
// That also makes subnormals normal. Infinity and NaN are handled separately.
SHW_FLOAT8 float f8e4m3_to_f32(unsigned char f) {
  const unsigned magnitude = f & 0x7fu, sign = (f & 0x80u) << 24;
  const float scaled = SHW_FLOAT8_NUMBER(magnitude << 20) * 1.329227995784916e36f;
  const unsigned bits = magnitude == 0x7f ? 0x7fc00000u : SHW_FLOAT8_BITS(scaled);
  return SHW_FLOAT8_NUMBER(sign | bits);
}

SHW_FLOAT8 float f8e5m2_to_f32(unsigned char f) {
  const unsigned magnitude = f & 0x7fu, sign = (f & 0x80u) << 24;
  const float scaled = SHW_FLOAT8_NUMBER(magnitude << 21) * 5.192296858534828e33f;
  const unsigned special = magnitude > 0x7c ? 0x7fc00000u : 0x7f800000u;
  const unsigned bits = magnitude >= 0x7c ? special : SHW_FLOAT8_BITS(scaled);
  return SHW_FLOAT8_NUMBER(sign | bits);
}

}  // namespace shw
#undef SHW_FLOAT8
#undef SHW_FLOAT8_NUMBER
#undef SHW_FLOAT8_BITS
