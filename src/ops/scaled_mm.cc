// scaled_mm: (self × mat2) · scale_a · scale_b + bias. A scale is one number, or one per row of
// self, [m,1], or column of mat2, [1,n]; sums are in f32. Partial sums do not pass, because the
// operands are quantised. self and mat2 may be 8-bit floats, also of different kinds; without
// `dtype` the result has self's.
#include "ops/product.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor},          {"mat2", ParamKind::kTensor},
    {"scale_a", ParamKind::kTensor},       {"scale_b", ParamKind::kTensor},
    {"bias", ParamKind::kOptionalTensor},  {"dtype", ParamKind::kDtype},
    {"scale_result", ParamKind::kIgnored}, {"use_fast_accum", ParamKind::kIgnored}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 4));
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, infer_product(args, 0, 2));
  if (is_complex(args.in(0).dtype) || args.in(0).dtype == Dtype::kBool)
    return invalid_argument("operands must be numbers without an imaginary part");
  const Dims& shape = results[0]->shape;
  const Dims by_row{shape[0], 1}, by_column{1, shape[1]};
  for (size_t k : {size_t{2}, size_t{3}}) {
    const TensorType& scale = args.in(k);
    const bool one_number = scale.numel() == 1 && scale.rank() <= 2;
    const bool is_wide = is_floating(scale.dtype) && !is_float8(scale.dtype);
    if (!is_wide || (!one_number && scale.shape != (k == 2 ? by_row : by_column)))
      return invalid_argument("scale " + to_string(scale) + " is neither one real nor one " +
                              (k == 2 ? "a row" : "a column") + " of " + to_string(*results[0]));
  }
  results[0]->dtype = args.attrs->get_dtype(AttrKey::kDtype, results[0]->dtype);
  if (!is_floating(results[0]->dtype))
    return invalid_argument("attribute 'dtype' must be floating");
  if (args.has(4)) {
    SHW_RETURN_IF_ERROR(want_bias(args, 4, *results[0]));
    if (!is_floating(args.in(4).dtype) || is_float8(args.in(4).dtype))
      return invalid_argument("the bias must be real, and no 8-bit float");
  }
  return results;
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto follows = [&](size_t k, size_t dim) {
    return args.in(k).shape ==
               Dims{dim == 0 ? results[0]->shape[0] : 1, dim == 1 ? results[0]->shape[1] : 1} &&
           args.in(k).numel() > 1;
  };
  const Placement row = follows(2, 0) ? shard(0) : kR, column = follows(3, 1) ? shard(1) : kR;
  // A bias would be added once a rank where the sum is in parts.
  if (!args.has(4)) rules.add({kPSum}, {shard(1), shard(0), kR, kR, kR});
  rules.add({shard(0)}, {shard(0), kR, row, kR, bias_placement(args, 4, *results[0], shard(0))});
  rules.add({shard(1)}, {kR, shard(1), kR, column, bias_placement(args, 4, *results[0], shard(1))});
}

double flops(const OpArgs& args, std::span<const OptionalType>) { return product_flops(args, 0); }

}  // namespace

extern const OpDef kScaledMm;
constinit const OpDef kScaledMm = {
    .kind = OpKind::kScaledMm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
