// gelu: x · Φ(x); `approximate` is "none" or "tanh".
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"approximate", ParamKind::kString, "none"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_gelu(args));
  return infer_pointwise_float(args);
}

}  // namespace

extern const OpDef kGelu;
constinit const OpDef kGelu = {
    .kind = OpKind::kGelu,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
