// floor: the largest whole number ≤ x. Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kFloor;
constinit const OpDef kFloor = {
    .kind = OpKind::kFloor,
    .params = kSelf,
    .infer = infer_real,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
