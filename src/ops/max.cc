// max: the maxima along `dim`, and the index of the first of each. Over several dims, or all: amax.
#include "ops/extreme.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"keepdim", ParamKind::kBool, "false"}};

}  // namespace

extern const OpDef kMax;
constinit const OpDef kMax = {
    .kind = OpKind::kMax,
    .params = kParams,
    .infer = infer_extreme,
    .rules = place_of_extreme_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
