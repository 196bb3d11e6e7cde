// sub: self − alpha · other, broadcast. Rules as those of add.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensorOrScalar},
                             {"other", ParamKind::kTensorOrScalar},
                             {"alpha", ParamKind::kNumber}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0) || !args.has(1)) return;
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {p, p});
  for (Placement p : {kPAvg, kPMax, kPMin}) rules.add({p}, {p, kR});
  rules.add({kPAvg}, {kR, kPAvg});
}

}  // namespace

extern const OpDef kSub;
constinit const OpDef kSub = {
    .kind = OpKind::kSub,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = rules,
};

}  // namespace shw::ops
