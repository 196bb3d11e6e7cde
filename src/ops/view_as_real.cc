// view_as_real: complex numbers as pairs: a last dim of size 2.
#include "ops/families.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  TensorType type = args.in(0);
  if (!is_complex(type.dtype))
    return invalid_argument("the operand is not complex: " + to_string(type));
  if (type.rank() == kMaxRank) return invalid_argument("the result has more than 8 dims");
  type.dtype = Dtype::kF32;
  for (int64_t& s : type.strides) s *= 2;
  type.shape.push_back(2);
  type.strides.push_back(1);
  return one(type);
}

}  // namespace

extern const OpDef kViewAsReal;
constinit const OpDef kViewAsReal = {
    .kind = OpKind::kViewAsReal,
    .params = kSelf,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow_same,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
