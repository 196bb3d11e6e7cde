// ceil: the smallest whole number ≥ x. Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kCeil;
constinit const OpDef kCeil = {
    .kind = OpKind::kCeil,
    .params = kSelf,
    .infer = infer_real,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
