// lt: whether self < other, broadcast; either side may be a number.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kLt;
constinit const OpDef kLt = {
    .kind = OpKind::kLt,
    .params = kComparison,
    .infer = infer_comparison,
    .rules = pointwise_rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
