// cos: the cosine of x radians.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kCos;
constinit const OpDef kCos = {
    .kind = OpKind::kCos,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
