// cumsum: running sums along `dim`; integers and booleans sum as i64.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"dim", ParamKind::kInt}, {"dtype", ParamKind::kDtype}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(along(args, 0).status());
  const TensorType& in = args.in(0);
  const bool integer = !is_floating(in.dtype) && !is_complex(in.dtype);
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, integer ? Dtype::kI64 : in.dtype),
                       in.shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = along(args, 0);
  if (!dim.ok()) return;  // inference has refused the node before
  along_dim_rules(args, *dim, rules);
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
