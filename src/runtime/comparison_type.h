// The type in which a step compares its operands.
#pragma once
#include "runtime/kernel.h"

namespace shw::runtime {

// f64 if one of the operands is f64, f32 if one is another real type, else an integer type.
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

}  // namespace shw::runtime
