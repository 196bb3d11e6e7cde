// argmax: the index of the first maximum along `dim`; without `dim`, in the whole tensor in
// row-major order.
#include "ops/extreme.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"dim", ParamKind::kInt}, {"keepdim", ParamKind::kBool, "false"}};

}  // namespace

extern const OpDef kArgmax;
constinit const OpDef kArgmax = {
    .kind = OpKind::kArgmax,
    .params = kParams,
    .infer = infer_place_of_extreme,
    .rules = place_of_extreme_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
