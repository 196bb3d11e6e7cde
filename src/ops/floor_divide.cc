// floor_divide: ⌊self / other⌋, broadcast.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kFloorDivide;
constinit const OpDef kFloorDivide = {
    .kind = OpKind::kFloorDivide,
    .params = kComparison,
    .infer = infer_real,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
