// Shared by the reductions: dims, result type, rules.
#pragma once
#include "ops/families.h"

namespace shw::ops {

inline constexpr Param kReduction[] = {{"self", ParamKind::kTensor},
                                       {"dims", ParamKind::kInts, "[]"},
                                       {"keepdim", ParamKind::kBool, "false"}};
inline constexpr Param kTypedReduction[] = {{"self", ParamKind::kTensor},
                                            {"dims", ParamKind::kInts, "[]"},
                                            {"keepdim", ParamKind::kBool, "false"},
                                            {"dtype", ParamKind::kDtype}};

// The reduced dims of operand 0: attribute `dims`, or all if it is absent or empty.
Result<std::vector<bool>> reduced_dims(const OpArgs& args);
Results infer_reduction(const OpArgs& args, Dtype dtype);
// One rule per dim in ascending order: kept dims stay sharded, reduced dims yield a partial; then
// partials pass.
void reduction_rules(const OpArgs& args, Placement partial, RuleSet& rules);
// For reductions that cannot be computed from partial results: only kept dims stay sharded.
void kept_dims_rules(const OpArgs& args, RuleSet& rules);
// Refuses a reduction over no elements: it has no maximum.
Status want_some_elements(const OpArgs& args);

}  // namespace shw::ops
