// Comparisons: truth values from operands that are compared in their own type.
#pragma once
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {

// Reals in f64 if one of them is, else in f32; else integers.
inline Dtype comparison_type(const KernelArgs& args) {
  Dtype type = Dtype::kI64;
  const auto raise = [&type](Dtype d) {
    if (is_complex(d)) type = Dtype::kC64;
    if (is_floating(d) && type != Dtype::kF64 && type != Dtype::kC64)
      type = d == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
  };
  for (const TensorType* t : args.inputs)
    if (t != nullptr) raise(t->dtype);
  for (AttrKey key : {AttrKey::kSelf, AttrKey::kOther})
    if (const AttrValue* v = args.attrs.find(key); v && std::holds_alternative<double>(*v))
      raise(Dtype::kF32);
  return type;
}

// Test: a functor of two values that gives a truth value.
template <class Test>
struct Compare {
  template <class T>
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
