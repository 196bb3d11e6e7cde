// dtype_cast: the cast of a mixed-precision policy at a parameter or a gradient; computes as
// convert_element_type. Kept apart because the direction of the cast decides where a parameter may
// be gathered (placement/).
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kDtypeCast;
constinit const OpDef kDtypeCast = {
    .kind = OpKind::kDtypeCast,
    .params = kCast,
    .infer = infer_cast,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
};

}  // namespace shw::ops
