// sigmoid_backward: grad · y · (1 − y), y the sigmoid.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor}, {"output", ParamKind::kTensor}};

}  // namespace

extern const OpDef kSigmoidBackward;
constinit const OpDef kSigmoidBackward = {
    .kind = OpKind::kSigmoidBackward,
    .params = kParams,
    .infer = infer_gradient,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
