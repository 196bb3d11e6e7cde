// argmin: the index of the first minimum along `dim`; without `dim`, in the whole tensor in
// row-major order.
#include "ops/extreme.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"dim", ParamKind::kInt}, {"keepdim", ParamKind::kBool, "false"}};

}  // namespace

extern const OpDef kArgmin;
constinit const OpDef kArgmin = {
    .kind = OpKind::kArgmin,
    .params = kParams,
    .infer = infer_place_of_extreme,
    .rules = place_of_extreme_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
