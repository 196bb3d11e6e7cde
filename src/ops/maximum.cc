// maximum: the larger of two, broadcast. A maximum of parts may be taken in parts.
#include "ops/families.h"

namespace shw::ops {
namespace {

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0) || !args.has(1)) return;
  rules.add({kPMax}, {kPMax, kR});
  rules.add({kPMax}, {kR, kPMax});
  rules.add({kPMax}, {kPMax, kPMax});
}

}  // namespace

extern const OpDef kMaximum;
constinit const OpDef kMaximum = {
    .kind = OpKind::kMaximum,
    .params = kComparison,
    .infer = infer_real,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
