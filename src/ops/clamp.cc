// clamp: at least `min` and at most `max`; either may be absent.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"min", ParamKind::kNumber}, {"max", ParamKind::kNumber}};

Results infer(const OpArgs& args) {
  if (!args.attrs->has(AttrKey::kMin) && !args.attrs->has(AttrKey::kMax))
    return invalid_argument("neither 'min' nor 'max' is given");
  return infer_real(args);
}

}  // namespace

extern const OpDef kClamp;
constinit const OpDef kClamp = {
    .kind = OpKind::kClamp,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
