// sin: the sine of x radians.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kSin;
constinit const OpDef kSin = {
    .kind = OpKind::kSin,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
