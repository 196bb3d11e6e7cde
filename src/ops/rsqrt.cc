// rsqrt: 1 / √x.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}};

}  // namespace

extern const OpDef kRsqrt;
constinit const OpDef kRsqrt = {
    .kind = OpKind::kRsqrt,
    .params = kParams,
    .infer = infer_pointwise_float,
    .rules = pointwise_rules,
};

}  // namespace shw::ops
