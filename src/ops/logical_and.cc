// logical_and: whether both are not zero; broadcast.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kLogicalAnd;
constinit const OpDef kLogicalAnd = {
    .kind = OpKind::kLogicalAnd,
    .params = kComparison,
    .infer = infer_comparison,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
