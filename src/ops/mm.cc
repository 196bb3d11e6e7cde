// mm: [m,k] × [k,n] → [m,n].
#include "ops/product.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"mat2", ParamKind::kTensor}};

Results infer(const OpArgs& args) { return infer_product(args, 0, 2); }

void rules(const OpArgs&, std::span<const OptionalType>, RuleSet& rules) {
  contraction_rules({"mk", "kn", "mn"}, true, rules);
}

double flops(const OpArgs& args, std::span<const OptionalType>) { return product_flops(args, 0); }

}  // namespace

extern const OpDef kMm;
constinit const OpDef kMm = {
    .kind = OpKind::kMm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
