// native_dropout_backward: the gradient where the mask holds, times `scale`; zero elsewhere.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"mask", ParamKind::kTensor},
                             {"scale", ParamKind::kNumber, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  if (args.in(0).shape != args.in(1).shape || args.in(1).dtype != Dtype::kBool)
    return invalid_argument("gradient " + to_string(args.in(0)) + " and mask " +
                            to_string(args.in(1)) + " do not fit");
  return infer_same(args);
}

}  // namespace

extern const OpDef kDropoutBackward;
constinit const OpDef kDropoutBackward = {
    .kind = OpKind::kDropoutBackward,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
