// dtype_cast: a cast of the mixed-precision policy, at a parameter or a gradient; computes the same
// as convert_element_type. A separate op because the direction of the cast determines where a
// parameter may be gathered (placement/).
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kDtypeCast;
constinit const OpDef kDtypeCast = {
    .kind = OpKind::kDtypeCast,
    .params = kCast,
    .infer = infer_cast,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
    .takes_float8 = true,
};

}  // namespace shw::ops
