// fused_rms_norm_backward: gradients of input and weight; `output_mask` selects them. That of the
// weight is a sum over the rows.
#include "ops/layer_norm.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_out", ParamKind::kTensor},
                             {"input", ParamKind::kTensor},
                             {"normalized_shape", ParamKind::kInts, kRequired},
                             {"rstd", ParamKind::kTensor},
                             {"weight", ParamKind::kOptionalTensor},
                             {"output_mask", ParamKind::kInts}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 3));
  SHW_ASSIGN_OR_RETURN(const size_t rows, normalised_from(args, 1, {3}));
  const TensorType& x = args.in(1);
  if (args.in(0).shape != x.shape || args.in(2).shape != statistic(x, rows).shape)
    return invalid_argument("gradient or rstd does not have the shape that " + to_string(x) +
                            " asks for");
  std::vector<OptionalType> results(2);
  if (wants_gradient(args, 0)) results[0] = row_major(x.dtype, x.shape);
  if (wants_gradient(args, 1) && args.has(3))
    results[1] = row_major(args.in(3).dtype, args.in(3).shape);
  return results;
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  for (size_t d = 0; d < kept_dims(args, 1); ++d) {
    const Placement s = shard(d);
    rules.add({results[0] ? s : kR, results[1] ? kPSum : kR}, {s, s, s, kR});
  }
}

}  // namespace

extern const OpDef kRmsNormBackward;
constinit const OpDef kRmsNormBackward = {
    .kind = OpKind::kRmsNormBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
