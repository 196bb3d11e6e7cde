// masked_fill: `value`, a number or a tensor, where the mask holds, else self; broadcast.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"mask", ParamKind::kTensor},
                             {"value", ParamKind::kTensorOrScalar}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  if (args.in(1).dtype != Dtype::kBool)
    return invalid_argument("the mask is " + to_string(args.in(1)) + ", expected bool");
  if (!args.has(2) && !args.attrs->has(AttrKey::kValue))
    return invalid_argument("there is no value to fill in");
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, infer_pointwise(args));
  results[0]->dtype = args.in(0).dtype;
  return results;
}

}  // namespace

extern const OpDef kMaskedFill;
constinit const OpDef kMaskedFill = {
    .kind = OpKind::kMaskedFill,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
