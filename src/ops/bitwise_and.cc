// bitwise_and: of integers, or of truth values; broadcast.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kBitwiseAnd;
constinit const OpDef kBitwiseAnd = {
    .kind = OpKind::kBitwiseAnd,
    .params = kComparison,
    .infer = infer_bits,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
