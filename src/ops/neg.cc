// neg: −x. Linear; turns maxima into minima.
#include "ops/families.h"

namespace shw::ops {
namespace {

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  pass_partials({kPSum, kPAvg}, rules);
  rules.add({kPMin}, {kPMax});
  rules.add({kPMax}, {kPMin});
}

}  // namespace

extern const OpDef kNeg;
constinit const OpDef kNeg = {
    .kind = OpKind::kNeg,
    .params = kSelf,
    .infer = infer_pointwise,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
