// dtype_cast: the cast of a mixed-precision policy at a parameter or a gradient; computes as
// convert_element_type. Kept apart because the direction of the cast decides where a parameter may
// be gathered (placement/).
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"dtype", ParamKind::kDtype}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  if (!args.attrs->has(AttrKey::kDtype)) return invalid_argument("attribute 'dtype' is missing");
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, Dtype::kF32), args.in(0).shape));
}

}  // namespace

extern const OpDef kDtypeCast;
constinit const OpDef kDtypeCast = {
    .kind = OpKind::kDtypeCast,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
};

}  // namespace shw::ops
