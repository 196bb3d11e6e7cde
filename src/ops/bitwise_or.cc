// bitwise_or: of integers, or of truth values; broadcast.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kBitwiseOr;
constinit const OpDef kBitwiseOr = {
    .kind = OpKind::kBitwiseOr,
    .params = kComparison,
    .infer = infer_bits,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
