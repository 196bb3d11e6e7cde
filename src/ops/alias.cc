// alias: the operand itself. Rewrites put one behind every value with several uses and before every
// output: a point at which the planner may choose the layout once for all that follows. Never
// partial.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(args.in(0));
}

}  // namespace

extern const OpDef kAlias;
constinit const OpDef kAlias = {
    .kind = OpKind::kAlias,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFree,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
