// logical_not: whether x is zero.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kLogicalNot;
constinit const OpDef kLogicalNot = {
    .kind = OpKind::kLogicalNot,
    .params = kSelf,
    .infer = infer_truth,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
