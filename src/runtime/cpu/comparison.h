// Comparisons. Operands are compared in their own type; the result is a truth value.
#pragma once
#include "runtime/comparison_type.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {

// Test: a functor that maps two values to a truth value.
template <class Test>
struct Compare {
  template <Known T>
  requires(!std::is_same_v<T, Complex>) T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, Int>)
      return Int{Test{}(a.v, b.v)};
    else
      return Test{}(a, b) ? T{1} : T{0};  // a selection vectorises, a conversion of bool does not
  }
};

template <class Test>
Prepared prepare_comparison(const KernelArgs& args) {
  return prepare_binary(args, Compare<Test>{}, comparison_type(args));
}

}  // namespace shw::runtime::cpu
