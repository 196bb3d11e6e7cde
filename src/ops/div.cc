// div: self / other, broadcast; integers become f32. Linear in the numerator.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensorOrScalar},
                             {"other", ParamKind::kTensorOrScalar}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0)) return;
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {p, kR});
}

}  // namespace

extern const OpDef kDiv;
constinit const OpDef kDiv = {
    .kind = OpKind::kDiv,
    .params = kParams,
    .infer = infer_pointwise_float,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
