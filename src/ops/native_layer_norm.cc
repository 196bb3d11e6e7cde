// native_layer_norm: (x − mean) · rstd · weight + bias over the last dims of x
// (`normalized_shape`).
//
// Results: out, mean, rstd = 1 / √(variance + eps); the last two have size 1 in the normalised
// dims, and are f64 if x is, else f32. The other dims may be sharded.
#include "ops/layer_norm.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"input", ParamKind::kTensor},
                             {"normalized_shape", ParamKind::kInts, kRequired},
                             {"weight", ParamKind::kOptionalTensor},
                             {"bias", ParamKind::kOptionalTensor},
                             {"eps", ParamKind::kNumber, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const size_t rows, normalised_from(args, 0, {1, 2}));
  const TensorType& x = args.in(0);
  const OptionalType stat = statistic(x, rows);
  return std::vector<OptionalType>{row_major(x.dtype, x.shape), stat, stat};
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  for (size_t d = 0; d < kept_dims(args, 0); ++d)
    rules.add({shard(d), shard(d), shard(d)}, {shard(d), kR, kR});
}

}  // namespace

extern const OpDef kLayerNorm;
constinit const OpDef kLayerNorm = {
    .kind = OpKind::kLayerNorm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
