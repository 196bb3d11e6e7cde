// softmax: eˣ divided by its sum along `dim`.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"half_to_float", ParamKind::kBool, "false"}};

}  // namespace

extern const OpDef kSoftmax;
constinit const OpDef kSoftmax = {
    .kind = OpKind::kSoftmax,
    .params = kParams,
    .infer = infer_softmax,
    .rules = softmax_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
