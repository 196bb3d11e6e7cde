// ge: whether self ≥ other, broadcast; either side may be a number.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kGe;
constinit const OpDef kGe = {
    .kind = OpKind::kGe,
    .params = kComparison,
    .infer = infer_comparison,
    .rules = pointwise_rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
