// clone: a row-major copy.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"memory_format", ParamKind::kString}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  pass_partials({kPSum, kPAvg, kPMin, kPMax}, rules);
}

}  // namespace

extern const OpDef kClone;
constinit const OpDef kClone = {
    .kind = OpKind::kClone,
    .params = kParams,
    .infer = infer_same,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
