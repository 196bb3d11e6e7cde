// get_item: tensor `index` of a tuple. Inference sees that tensor as the operand, not the tuple.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"index", ParamKind::kInt, kRequired}};

}  // namespace

extern const OpDef kGetItem;
constinit const OpDef kGetItem = {
    .kind = OpKind::kGetItem,
    .params = kParams,
    .infer = infer_identity,
    .sharding = Sharding::kElement,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
