// logical_or: whether one is not zero; broadcast.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kLogicalOr;
constinit const OpDef kLogicalOr = {
    .kind = OpKind::kLogicalOr,
    .params = kComparison,
    .infer = infer_comparison,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
