// Conversions between f32 and the bits of bf16 and f16. They round to nearest even; NaN stays NaN.
#pragma once
#include <bit>
#include <cstdint>

namespace shw::runtime {

inline float bf16_to_f32(uint16_t h) {
  return std::bit_cast<float>(static_cast<uint32_t>(h) << 16);
}

inline uint16_t f32_to_bf16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  // Rounding could carry a NaN's mantissa over to infinity: make it quiet instead.
  const uint32_t nan = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

inline float f16_to_f32(uint16_t h) {
  // Shift exponent and mantissa to their place in an f32, then multiply by 2^112 to correct the
  // exponent's bias. The multiplication also normalises subnormals. Infinity and NaN are handled
  // separately.
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t bits =
      (h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(sign | bits);
}

inline uint16_t f32_to_f16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t result;
  if (magnitude > 0x7f800000) {
    result = 0x7e00;  // NaN
  } else if (magnitude >= 0x477ff000) {
    result = 0x7c00;  // 65520 and above round to infinity
  } else if (magnitude < 0x38800000) {
    // Subnormal in f16: adding 0.5 leaves the correctly rounded result in the lowest bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<uint32_t>(shifted) - 0x3f000000;
  } else {
    result = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  }
  return static_cast<uint16_t>(sign | result);
}

}  // namespace shw::runtime
