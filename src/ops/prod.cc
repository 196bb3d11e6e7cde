// prod: the product over `dims`; integers and booleans multiply as i64.
#include "ops/reduction.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const Dtype in = args.in(0).dtype;
  if (is_complex(in))
    return invalid_argument("expected real numbers, got " + to_string(args.in(0)));
  return infer_reduction(args, is_floating(in) ? in : Dtype::kI64);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  reduction_rules(args, Placement::partial(ReduceOp::kProduct), rules);
}

}  // namespace

extern const OpDef kProd;
constinit const OpDef kProd = {
    .kind = OpKind::kProd,
    .params = kTypedReduction,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
