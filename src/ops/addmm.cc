// addmm: beta · self + alpha · mat1 × mat2; self broadcasts to [m,n].
#include "ops/product.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"mat1", ParamKind::kTensor},
                             {"mat2", ParamKind::kTensor},
                             {"beta", ParamKind::kNumber, "1"},
                             {"alpha", ParamKind::kNumber, "1"}};

Results infer(const OpArgs& args) { return infer_biased_product(args, 2); }

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  biased_rules({"mk", "kn", "mn"}, args, *results[0], rules);
}

double flops(const OpArgs& args, std::span<const OptionalType>) { return product_flops(args, 1); }

}  // namespace

extern const OpDef kAddmm;
constinit const OpDef kAddmm = {
    .kind = OpKind::kAddmm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
