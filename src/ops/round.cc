// round: the nearest integer; ties to even. Monotone, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kRound;
constinit const OpDef kRound = {
    .kind = OpKind::kRound,
    .params = kSelf,
    .infer = infer_real,
    .rules = monotone_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
