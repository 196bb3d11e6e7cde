// pow_tensor: self to the power of the elements of other, broadcast; either may be a number.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kPowTensor;
constinit const OpDef kPowTensor = {
    .kind = OpKind::kPowTensor,
    .params = kComparison,
    .infer = infer_real,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
