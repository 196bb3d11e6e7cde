// log_softmax: x minus the logarithm of the sum of eˣ along `dim`.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"half_to_float", ParamKind::kBool, "false"}};

}  // namespace

extern const OpDef kLogSoftmax;
constinit const OpDef kLogSoftmax = {
    .kind = OpKind::kLogSoftmax,
    .params = kParams,
    .infer = infer_softmax,
    .rules = softmax_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
