// amin: the smallest value over `dims`.
#include "ops/reduction.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_some_elements(args));
  return infer_reduction(args, args.in(0).dtype);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  reduction_rules(args, kPMin, rules);
}

}  // namespace

extern const OpDef kAmin;
constinit const OpDef kAmin = {
    .kind = OpKind::kAmin,
    .params = kReduction,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
