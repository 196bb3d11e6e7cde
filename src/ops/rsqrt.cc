// rsqrt: 1 / √x.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kRsqrt;
constinit const OpDef kRsqrt = {
    .kind = OpKind::kRsqrt,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
