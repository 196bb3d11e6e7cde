// atan2: the angle of the point (other, self), broadcast; either may be a number.
#include "ops/families.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(infer_real(args).status());
  return infer_pointwise_float(args);
}

}  // namespace

extern const OpDef kAtan2;
constinit const OpDef kAtan2 = {
    .kind = OpKind::kAtan2,
    .params = kComparison,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
