// baddbmm: beta · self + alpha · batch1 × batch2; self broadcasts to [b,m,n].
#include "ops/product.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"batch1", ParamKind::kTensor},
                             {"batch2", ParamKind::kTensor},
                             {"beta", ParamKind::kNumber, "1"},
                             {"alpha", ParamKind::kNumber, "1"}};

Results infer(const OpArgs& args) { return infer_biased_product(args, 3); }

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  biased_rules({"bmk", "bkn", "bmn"}, args, *results[0], rules);
}

double flops(const OpArgs& args, std::span<const OptionalType>) { return product_flops(args, 1); }

}  // namespace

extern const OpDef kBaddbmm;
constinit const OpDef kBaddbmm = {
    .kind = OpKind::kBaddbmm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
