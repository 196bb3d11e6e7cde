// What the reductions share: dims, result type, rules.
#pragma once
#include "ops/families.h"

namespace shw::ops {

inline constexpr Param kReduction[] = {
    {"self", ParamKind::kTensor}, {"dims", ParamKind::kInts}, {"keepdim", ParamKind::kBool}};
inline constexpr Param kTypedReduction[] = {{"self", ParamKind::kTensor},
                                            {"dims", ParamKind::kInts},
                                            {"keepdim", ParamKind::kBool},
                                            {"dtype", ParamKind::kDtype}};

// Which dims of operand 0 the node reduces: attribute `dims`, all of them when it is absent or
// empty.
Result<std::vector<bool>> reduced_dims(const OpArgs& args);
Results infer_reduction(const OpArgs& args, Dtype dtype);
// One rule per dim in ascending order: kept dims stay sharded, reduced dims leave a partial; then
// partials pass.
void reduction_rules(const OpArgs& args, Placement partial, RuleSet& rules);
// Of reductions that parts do not add up to: kept dims stay sharded.
void kept_dims_rules(const OpArgs& args, RuleSet& rules);
// Refuses a reduction of nothing: there is no largest of no elements.
Status want_some_elements(const OpArgs& args);

}  // namespace shw::ops
