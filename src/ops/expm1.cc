// expm1: eˣ − 1. Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kExpm1;
constinit const OpDef kExpm1 = {
    .kind = OpKind::kExpm1,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
