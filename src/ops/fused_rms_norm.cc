// fused_rms_norm: x · rstd · weight over the last dims of x (`normalized_shape`); rstd = 1 / √(mean
// square + eps), the second result, has size 1 in the normalised dims, and is f64 if x is, else
// f32. The other dims may be sharded.
#include "ops/layer_norm.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"input", ParamKind::kTensor},
                             {"normalized_shape", ParamKind::kInts, kRequired},
                             {"weight", ParamKind::kOptionalTensor},
                             {"eps", ParamKind::kNumber}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const size_t rows, normalised_from(args, 0, {1}));
  const TensorType& x = args.in(0);
  return std::vector<OptionalType>{row_major(x.dtype, x.shape), statistic(x, rows)};
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  for (size_t d = 0; d < kept_dims(args, 0); ++d) rules.add({shard(d), shard(d)}, {shard(d), kR});
}

}  // namespace

extern const OpDef kRmsNorm;
constinit const OpDef kRmsNorm = {
    .kind = OpKind::kRmsNorm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
