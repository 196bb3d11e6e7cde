// gelu_backward: grad · gelu′(self); `approximate` is "none" or "tanh".
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"self", ParamKind::kTensor},
                             {"approximate", ParamKind::kString, "none"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_RETURN_IF_ERROR(want_gelu(args));
  return infer_pointwise_float(args);
}

}  // namespace

extern const OpDef kGeluBackward;
constinit const OpDef kGeluBackward = {
    .kind = OpKind::kGeluBackward,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
