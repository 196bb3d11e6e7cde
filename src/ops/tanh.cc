// tanh: monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kTanh;
constinit const OpDef kTanh = {
    .kind = OpKind::kTanh,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
