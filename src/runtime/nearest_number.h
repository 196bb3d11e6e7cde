// The number nearest to a given one that a dtype with a limited range can represent.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensor/dtype.h"

namespace shw::runtime {

struct NearestNumber {
  double real = 0;
  int64_t integer = 0;  // the value for integers and bool
};

// Needed because the neutral element of a maximum or minimum is infinite, and integers have no
// infinity.
inline NearestNumber nearest_number(double value, Dtype dtype) {
  const auto bits = static_cast<int>(8 * dtype_size(dtype));
  double low = 0, high = 1;
  if (dtype != Dtype::kBool) {
    if (is_floating(dtype) || is_complex(dtype)) return {value, 0};
    const bool is_signed = dtype != Dtype::kU8;
    high = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    low = is_signed ? -high : 0;
    if (value >= high)
      return {high, is_signed ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : 255};
  }
  const double bounded = std::clamp(value, low, high);
  return {bounded, static_cast<int64_t>(bounded)};
}

}  // namespace shw::runtime
