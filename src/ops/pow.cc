// pow: x raised to the number `exponent`.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"exponent", ParamKind::kNumber, kRequired}};

Results infer(const OpArgs& args) {
  const AttrValue& exponent = *args.attrs->find(AttrKey::kExponent);
  return std::holds_alternative<double>(exponent) ? infer_pointwise_float(args)
                                                  : infer_pointwise(args);
}

}  // namespace

extern const OpDef kPow;
constinit const OpDef kPow = {
    .kind = OpKind::kPow,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
