// mean: over `dims`. A shard of a reduced dim yields an average of averages, which is correct only
// for even shards; the `full` rule set requires these (strategy/).
#include "ops/reduction.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const Dtype in = args.in(0).dtype;
  const bool integer = !is_floating(in) && !is_complex(in);
  return infer_reduction(args, integer ? Dtype::kF32 : in);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  reduction_rules(args, kPAvg, rules);
}

}  // namespace

extern const OpDef kMean;
constinit const OpDef kMean = {
    .kind = OpKind::kMean,
    .params = kTypedReduction,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
