// log_softmax_backward_data: the gradient before a log_softmax, from the one behind it and the
// output.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"output", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"input_dtype", ParamKind::kDtype}};

}  // namespace

extern const OpDef kLogSoftmaxBackward;
constinit const OpDef kLogSoftmaxBackward = {
    .kind = OpKind::kLogSoftmaxBackward,
    .params = kParams,
    .infer = infer_softmax_backward,
    .rules = softmax_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
