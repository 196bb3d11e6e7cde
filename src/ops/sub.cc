// sub: self − alpha · other, broadcast. Rules as those of add.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensorOrScalar},
                             {"other", ParamKind::kTensorOrScalar},
                             {"alpha", ParamKind::kNumber, "1"}};

}  // namespace

extern const OpDef kSub;
constinit const OpDef kSub = {
    .kind = OpKind::kSub,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = additive_rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
