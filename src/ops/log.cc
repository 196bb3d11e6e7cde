// log: the natural logarithm.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kLog;
constinit const OpDef kLog = {
    .kind = OpKind::kLog,
    .params = kSelf,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
