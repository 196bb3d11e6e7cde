// any: whether some element over `dims` is nonzero.
#include "ops/reduction.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) { return infer_reduction(args, Dtype::kBool); }

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  kept_dims_rules(args, rules);
}

}  // namespace

extern const OpDef kAny;
constinit const OpDef kAny = {
    .kind = OpKind::kAny,
    .params = kReduction,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
