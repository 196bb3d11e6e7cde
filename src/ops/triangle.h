// Shared by tril and triu. A rank that knows the position of its piece can compute it (`full`); the
// reference planner requires the whole matrix.
#pragma once
#include "ops/families.h"

namespace shw::ops {

inline constexpr Param kTriangle[] = {{"self", ParamKind::kTensor},
                                      {"diagonal", ParamKind::kInt, "0"}};
Results infer_triangle(const OpArgs& args);
void triangle_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

}  // namespace shw::ops
