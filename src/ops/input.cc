// input: a tensor supplied by the caller: parameter, buffer, input, tangent or seed. Its type is
// the recorded one.
#include "ops/families.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs&) { return std::vector<OptionalType>{}; }

}  // namespace

extern const OpDef kInput;
constinit const OpDef kInput = {
    .kind = OpKind::kInput,
    .params = {},
    .infer = infer,  // nothing to infer from
    .sharding = Sharding::kFree,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
