// relu: max(x, 0). Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kRelu;
constinit const OpDef kRelu = {
    .kind = OpKind::kRelu,
    .params = kSelf,
    .infer = infer_pointwise,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
