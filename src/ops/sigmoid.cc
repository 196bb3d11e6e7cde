// sigmoid: 1 / (1 + e⁻ˣ). Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kSigmoid;
constinit const OpDef kSigmoid = {
    .kind = OpKind::kSigmoid,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
