// var: the mean square distance from the mean over `dims`, of n elements divided by n −
// `correction` (1 where it is not given).
#include "ops/reduction.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dims", ParamKind::kInts, "[]"},
                             {"correction", ParamKind::kNumber, "1"},
                             {"keepdim", ParamKind::kBool, "false"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  if (!is_floating(args.in(0).dtype))
    return invalid_argument("expected a floating-point tensor, got " + to_string(args.in(0)));
  return infer_reduction(args, args.in(0).dtype);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  kept_dims_rules(args, rules);
}

}  // namespace

extern const OpDef kVar;
constinit const OpDef kVar = {
    .kind = OpKind::kVar,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
