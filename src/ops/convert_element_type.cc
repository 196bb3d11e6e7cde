// convert_element_type: the operand converted to `dtype`. Partial values pass, even through lossy
// casts, as in the reference planner.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kConvertElementType;
constinit const OpDef kConvertElementType = {
    .kind = OpKind::kConvertElementType,
    .params = kCast,
    .infer = infer_cast,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
    .takes_float8 = true,
};

}  // namespace shw::ops
