// alias: the operand itself. Rewrites put one behind every value with several uses and before every
// output: a point at which the planner may choose the layout once for all that follows. Never
// partial.
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
