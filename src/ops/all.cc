// all: whether all elements over `dims` are nonzero.
#include "ops/reduction.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) { return infer_reduction(args, Dtype::kBool); }

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  kept_dims_rules(args, rules);
}

}  // namespace

extern const OpDef kAll;
constinit const OpDef kAll = {
    .kind = OpKind::kAll,
    .params = kReduction,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
