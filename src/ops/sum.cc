// sum: over `dims`; integers and booleans sum as i64.
#include "ops/reduction.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const Dtype in = args.in(0).dtype;
  const bool integer = !is_floating(in) && !is_complex(in);
  return infer_reduction(args, integer ? Dtype::kI64 : in);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  reduction_rules(args, kPSum, rules);
}

}  // namespace

extern const OpDef kSum;
constinit const OpDef kSum = {
    .kind = OpKind::kSum,
    .params = kTypedReduction,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
