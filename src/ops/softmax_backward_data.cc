// softmax_backward_data: the gradient of the operand of a softmax, from that of its output and the
// output.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"output", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"input_dtype", ParamKind::kDtype}};

}  // namespace

extern const OpDef kSoftmaxBackward;
constinit const OpDef kSoftmaxBackward = {
    .kind = OpKind::kSoftmaxBackward,
    .params = kParams,
    .infer = infer_softmax_backward,
    .rules = softmax_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
