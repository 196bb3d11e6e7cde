// remainder: self − other · ⌊self / other⌋, with the sign of other; broadcast.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kRemainder;
constinit const OpDef kRemainder = {
    .kind = OpKind::kRemainder,
    .params = kComparison,
    .infer = infer_real,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
