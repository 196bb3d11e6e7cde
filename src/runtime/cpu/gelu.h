// Functions that gelu and its backward step share.
#pragma once
#include <numbers>

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

inline bool gelu_by_tanh(const KernelArgs& args) {
  return args.attrs.get_string(AttrKey::kApproximate) == "tanh";
}

// Φ(x), the cumulative distribution function of the standard normal distribution.
template <class T>
T normal_below(T x) {
  return T{0.5} * (1 + fast_erf(x * static_cast<T>(std::numbers::sqrt2 / 2)));
}

// The argument of tanh in the tanh approximation (Hendrycks & Gimpel 2016), √(2/π)·(x +
// 0.044715·x³), and its derivative.
inline constexpr double kGeluScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
template <class T>
T gelu_inner(T x) {
  return static_cast<T>(kGeluScale) * (x + T{0.044715} * x * x * x);
}
template <class T>
T gelu_inner_slope(T x) {
  return static_cast<T>(kGeluScale) * (1 + T{3 * 0.044715} * x * x);
}

}  // namespace shw::runtime::cpu
