// minimum: the smaller of two, broadcast. A minimum of parts may be taken in parts.
#include "ops/families.h"

namespace shw::ops {
namespace {

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0) || !args.has(1)) return;
  rules.add({kPMin}, {kPMin, kR});
  rules.add({kPMin}, {kR, kPMin});
  rules.add({kPMin}, {kPMin, kPMin});
}

}  // namespace

extern const OpDef kMinimum;
constinit const OpDef kMinimum = {
    .kind = OpKind::kMinimum,
    .params = kComparison,
    .infer = infer_real,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
