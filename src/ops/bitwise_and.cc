// bitwise_and: of integers, or of truth values; broadcast.
#include "ops/families.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  for (const OptionalType& t : args.operands)
    if (t && (is_floating(t->dtype) || is_complex(t->dtype)))
      return invalid_argument("want integers or truth values, not " + to_string(*t));
  return infer_pointwise(args);
}

}  // namespace

extern const OpDef kBitwiseAnd;
constinit const OpDef kBitwiseAnd = {
    .kind = OpKind::kBitwiseAnd,
    .params = kComparison,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
};

}  // namespace shw::ops
