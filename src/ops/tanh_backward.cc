// tanh_backward: grad · (1 − y²), y the tanh.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor}, {"output", ParamKind::kTensor}};

}  // namespace

extern const OpDef kTanhBackward;
constinit const OpDef kTanhBackward = {
    .kind = OpKind::kTanhBackward,
    .params = kParams,
    .infer = infer_gradient,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
