// log1p: ln(1 + x).
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kLog1p;
constinit const OpDef kLog1p = {
    .kind = OpKind::kLog1p,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
