// add: self + alpha · other, broadcast.
//
// A sum of sums is a sum; an average plus a replicated value is an average, and so is a maximum or
// minimum.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensorOrScalar},
                             {"other", ParamKind::kTensorOrScalar},
                             {"alpha", ParamKind::kNumber, "1"}};

}  // namespace

extern const OpDef kAdd;
constinit const OpDef kAdd = {
    .kind = OpKind::kAdd,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = additive_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
