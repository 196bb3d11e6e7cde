// alias: the operand itself. Rewrites insert one after every value with several uses and before
// every output. There the planner may choose one layout for all later uses. Never partial.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kAlias;
constinit const OpDef kAlias = {
    .kind = OpKind::kAlias,
    .params = kSelf,
    .infer = infer_identity,
    .sharding = Sharding::kFree,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
