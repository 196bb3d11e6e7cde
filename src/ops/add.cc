// add: self + alpha · other, broadcast.
//
// A sum of sums is a sum; an average plus a replicated value is an average, and so is a maximum or
// minimum.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensorOrScalar},
                             {"other", ParamKind::kTensorOrScalar},
                             {"alpha", ParamKind::kNumber}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0) || !args.has(1))
    return;  // x + number: partial x would add the number once a rank
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {p, p});
  for (Placement p : {kPAvg, kPMax, kPMin}) rules.add({p}, {p, kR});
  rules.add({kPAvg}, {kR, kPAvg});
}

}  // namespace

extern const OpDef kAdd;
constinit const OpDef kAdd = {
    .kind = OpKind::kAdd,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = rules,
};

}  // namespace shw::ops
