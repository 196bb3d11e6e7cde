// relu: max(x, 0). Does not fall with x, so maxima and minima pass.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  pass_partials({kPMax, kPMin}, rules);
}

}  // namespace

extern const OpDef kRelu;
constinit const OpDef kRelu = {
    .kind = OpKind::kRelu,
    .params = kParams,
    .infer = infer_pointwise,
    .rules = rules,
};

}  // namespace shw::ops
