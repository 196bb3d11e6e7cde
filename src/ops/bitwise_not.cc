// bitwise_not: of integers, or of truth values.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kBitwiseNot;
constinit const OpDef kBitwiseNot = {
    .kind = OpKind::kBitwiseNot,
    .params = kSelf,
    .infer = infer_bits,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
