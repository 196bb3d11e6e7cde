// eq: whether self = other, broadcast; either side may be a number.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kEq;
constinit const OpDef kEq = {
    .kind = OpKind::kEq,
    .params = kComparison,
    .infer = infer_comparison,
    .rules = pointwise_rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
