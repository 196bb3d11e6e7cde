// silu_backward: grad · silu′(self).
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor}, {"self", ParamKind::kTensor}};

}  // namespace

extern const OpDef kSiluBackward;
constinit const OpDef kSiluBackward = {
    .kind = OpKind::kSiluBackward,
    .params = kParams,
    .infer = infer_gradient,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
