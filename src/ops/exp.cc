// exp: eˣ. Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kExp;
constinit const OpDef kExp = {
    .kind = OpKind::kExp,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
