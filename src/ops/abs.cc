// abs: |x|.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kAbs;
constinit const OpDef kAbs = {
    .kind = OpKind::kAbs,
    .params = kSelf,
    .infer = infer_real,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
