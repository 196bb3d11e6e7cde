// Short ways to write operands, attributes and inferred types.
#pragma once
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace shw::testing {

inline Attrs attrs(std::initializer_list<Attrs::Item> items) {
  Attrs a;
  for (const auto& [key, value] : items) a.set(key, value);
  return a;
}
inline AttrValue ints(std::vector<int64_t> v) { return v; }
inline OptionalType f32(Dims shape) { return row_major(Dtype::kF32, shape); }
inline OptionalType of(Dtype dtype, Dims shape) { return row_major(dtype, shape); }

// The inferred type as "f32[4,8]", a tuple as "f32[4], none", an error as "!" and its message.
inline std::string infer(OpKind op, const std::vector<OptionalType>& operands,
                         const Attrs& a = {}) {
  const auto r = op_def(op).infer({operands, &a});
  if (!r.ok()) return "!" + r.status().message();
  std::string s;
  for (const auto& t : *r) s += (s.empty() ? "" : ", ") + (t ? to_string(*t) : "none");
  return s;
}

}  // namespace shw::testing
