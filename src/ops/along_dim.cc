#include "ops/along_dim.h"

namespace shw::ops {

Result<size_t> along(const OpArgs& args, int64_t otherwise) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const int64_t given = args.attrs->get_int(AttrKey::kDim, otherwise);
  if (const auto dim = wrap_dim(given, args.in(0).rank())) return *dim;
  return invalid_argument("there is no dim " + std::to_string(given) + " in " +
                          to_string(args.in(0)));
}

void along_dim_rules(const OpArgs& args, size_t along, RuleSet& rules) {
  for (size_t d = 0; d < args.in(0).shape.size(); ++d) {
    if (d == along) continue;
    const std::vector<Placement> results(rules.num_results(), shard(d)),
        operands(rules.num_operands(), shard(d));
    rules.add(results, operands);
  }
}

Results infer_running(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(along(args, 0).status());
  const TensorType& in = args.in(0);
  const bool integer = !is_floating(in.dtype) && !is_complex(in.dtype);
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, integer ? Dtype::kI64 : in.dtype),
                       in.shape));
}

void softmax_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (const auto dim = along(args); dim.ok()) along_dim_rules(args, *dim, rules);
}

Results infer_softmax(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(along(args).status());
  const TensorType& in = args.in(0);
  if (!is_floating(in.dtype))
    return invalid_argument("expected a floating-point tensor, got " + to_string(in));
  const bool widen = args.attrs->get_bool(AttrKey::kHalfToFloat, false);
  return one(row_major(widen && in.dtype != Dtype::kF64 ? Dtype::kF32 : in.dtype, in.shape));
}

Results infer_softmax_backward(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_RETURN_IF_ERROR(along(args).status());
  const TensorType &grad = args.in(0), &output = args.in(1);
  if (grad.shape != output.shape || !is_floating(grad.dtype) || !is_floating(output.dtype))
    return invalid_argument("gradient " + to_string(grad) + " is none of " + to_string(output));
  return one(row_major(args.attrs->get_dtype(AttrKey::kInputDtype, grad.dtype), grad.shape));
}

Results values_and_indices(const OpArgs& args, size_t along, int64_t count) {
  TensorType values = row_major(args.in(0).dtype, args.in(0).shape);
  if (is_complex(values.dtype))
    return invalid_argument(to_string(args.in(0)) + " has no order among its elements");
  values.shape[along] = count;
  values = row_major(values.dtype, values.shape);
  return std::vector<OptionalType>{values, row_major(Dtype::kI64, values.shape)};
}

}  // namespace shw::ops
