// What tril and triu share. A rank that knows where its piece lies can do its part (`full`); the
// reference wants the matrix whole.
#pragma once
#include "ops/families.h"

namespace shw::ops {

inline constexpr Param kTriangle[] = {{"self", ParamKind::kTensor}, {"diagonal", ParamKind::kInt}};
Results infer_triangle(const OpArgs& args);
void triangle_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

}  // namespace shw::ops
