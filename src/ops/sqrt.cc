// sqrt: √x.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kSqrt;
constinit const OpDef kSqrt = {
    .kind = OpKind::kSqrt,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
