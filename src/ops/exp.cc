// exp: eˣ. Grows with x, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  pass_partials({kPMax, kPMin}, rules);
}

}  // namespace

extern const OpDef kExp;
constinit const OpDef kExp = {
    .kind = OpKind::kExp,
    .params = kParams,
    .infer = infer_pointwise_float,
    .rules = rules,
};

}  // namespace shw::ops
