// native_layer_norm_backward: gradients of input, weight and bias; `output_mask` selects them.
// Those of weight and bias are sums over the rows.
#include "ops/layer_norm.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_out", ParamKind::kTensor},
                             {"input", ParamKind::kTensor},
                             {"normalized_shape", ParamKind::kInts, kRequired},
                             {"mean", ParamKind::kTensor},
                             {"rstd", ParamKind::kTensor},
                             {"weight", ParamKind::kOptionalTensor},
                             {"bias", ParamKind::kOptionalTensor},
                             {"output_mask", ParamKind::kInts}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 4));
  SHW_ASSIGN_OR_RETURN(const size_t rows, normalised_from(args, 1, {4, 5}));
  const TensorType& x = args.in(1);
  const Dims stats = statistic(x, rows).shape;
  if (args.in(0).shape != x.shape || args.in(2).shape != stats || args.in(3).shape != stats)
    return invalid_argument("gradient, mean or rstd do not have the shape that " + to_string(x) +
                            " asks for");
  const Dims normalised(args.attrs->get_ints(AttrKey::kNormalizedShape));
  std::vector<OptionalType> results(3);
  if (wants_gradient(args, 0)) results[0] = row_major(x.dtype, x.shape);
  for (size_t r : {size_t{1}, size_t{2}})
    if (wants_gradient(args, r) && args.has(r + 3))
      results[r] = row_major(args.in(r + 3).dtype, normalised);
  return results;
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  for (size_t d = 0; d < kept_dims(args, 1); ++d) {
    const Placement s = shard(d), p = kPSum;
    const Placement out[] = {results[0] ? s : kR, results[1] ? p : kR, results[2] ? p : kR};
    const Placement in[] = {s, s, s, s, kR, kR};
    rules.add(out, in);
  }
}

}  // namespace

extern const OpDef kLayerNormBackward;
constinit const OpDef kLayerNormBackward = {
    .kind = OpKind::kLayerNormBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
