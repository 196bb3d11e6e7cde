// mul: self · other, broadcast. Linear in each operand: sums and averages pass where the other
// operand is replicated.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensorOrScalar},
                             {"other", ParamKind::kTensorOrScalar}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0) || !args.has(1)) {
    const size_t tensor = args.has(0) ? 0 : 1;
    for (Placement p : {kPSum, kPAvg}) {
      Placement operands[2] = {kR, kR};
      operands[tensor] = p;
      const Placement result[] = {p};
      rules.add(result, operands);
    }
    return;
  }
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {p, kR});
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {kR, p});
}

}  // namespace

extern const OpDef kMul;
constinit const OpDef kMul = {
    .kind = OpKind::kMul,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kAnyOperand,
};

}  // namespace shw::ops
