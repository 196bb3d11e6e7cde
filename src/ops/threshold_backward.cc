// threshold_backward: grad where self > threshold, else 0; with threshold 0 the derivative of relu.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"self", ParamKind::kTensor},
                             {"threshold", ParamKind::kNumber, kRequired}};

}  // namespace

extern const OpDef kThresholdBackward;
constinit const OpDef kThresholdBackward = {
    .kind = OpKind::kThresholdBackward,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
