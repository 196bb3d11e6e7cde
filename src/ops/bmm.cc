// bmm: [b,m,k] × [b,k,n] → [b,m,n].
#include "ops/product.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"mat2", ParamKind::kTensor}};

Results infer(const OpArgs& args) { return infer_product(args, 0, 3); }

void rules(const OpArgs&, std::span<const OptionalType>, RuleSet& rules) {
  contraction_rules({"bmk", "bkn", "bmn"}, true, rules);
}

double flops(const OpArgs& args, std::span<const OptionalType>) { return product_flops(args, 0); }

}  // namespace

extern const OpDef kBmm;
constinit const OpDef kBmm = {
    .kind = OpKind::kBmm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
