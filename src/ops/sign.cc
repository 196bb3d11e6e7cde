// sign: −1, 0 or 1. Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kSign;
constinit const OpDef kSign = {
    .kind = OpKind::kSign,
    .params = kSelf,
    .infer = infer_real,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
