// convert_element_type: the operand with another dtype (`dtype`). Partial values pass, lossy casts
// included, as in the reference.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kConvertElementType;
constinit const OpDef kConvertElementType = {
    .kind = OpKind::kConvertElementType,
    .params = kCast,
    .infer = infer_cast,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
};

}  // namespace shw::ops
