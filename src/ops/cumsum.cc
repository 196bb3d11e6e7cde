// cumsum: running sums along `dim`; integers and truth values sum as i64. Linear: sums and averages
// pass.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"dim", ParamKind::kInt}, {"dtype", ParamKind::kDtype}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const TensorType& in = args.in(0);
  const int64_t dim = args.attrs->get_int(AttrKey::kDim, 0);
  if (!wrap_dim(dim, in.rank()))
    return invalid_argument("dim " + std::to_string(dim) + " of " + to_string(in));
  const bool integer = !is_floating(in.dtype) && !is_complex(in.dtype);
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, integer ? Dtype::kI64 : in.dtype),
                       in.shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto along = wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), args.in(0).rank());
  for (size_t d = 0; d < args.in(0).shape.size(); ++d)
    if (d != along) rules.add({shard(d)}, {shard(d)});
  pass_partials({kPSum, kPAvg}, rules);
}

}  // namespace

extern const OpDef kCumsum;
constinit const OpDef kCumsum = {
    .kind = OpKind::kCumsum,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
