// Selects one of two values by a condition, for where and masked_fill.
#pragma once
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {

struct Where {
  template <Known T>
  T operator()(T condition, T a, T b) const {
    if constexpr (std::is_same_v<T, Int>)
      return condition.v != 0 ? a : b;
    else if constexpr (std::is_same_v<T, Complex>)
      return condition.re != 0 ? a : b;
    else
      return condition != 0 ? a : b;
  }
};

}  // namespace shw::runtime::cpu
