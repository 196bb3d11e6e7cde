// silu: x / (1 + e⁻ˣ).
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kSilu;
constinit const OpDef kSilu = {
    .kind = OpKind::kSilu,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
