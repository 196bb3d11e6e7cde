// convert_element_type: the operand with another dtype (`dtype`). Partial values pass, lossy casts
// included, as in the reference.
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

extern const OpDef kConvertElementType;
constinit const OpDef kConvertElementType = {
    .kind = OpKind::kConvertElementType,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
};

}  // namespace shw::ops
