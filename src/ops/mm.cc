// mm: [m,k] × [k,n] → [m,n].
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"mat2", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  const TensorType &a = args.in(0), &b = args.in(1);
  if (a.rank() != 2 || b.rank() != 2 || a.shape[1] != b.shape[0])
    return invalid_argument("want [m,k] × [k,n], got " + to_string(a) + " × " + to_string(b));
  if (a.dtype != b.dtype)
    return invalid_argument("operands differ in dtype: " + to_string(a) + " × " + to_string(b));
  return one(row_major(a.dtype, Dims{a.shape[0], b.shape[1]}));
}

void rules(const OpArgs&, std::span<const OptionalType>, RuleSet& rules) {
  contraction_rules({"mk", "kn", "mn"}, true, rules);
}

double flops(const OpArgs& args, std::span<const OptionalType>) {
  const Dims &a = args.in(0).shape, &b = args.in(1).shape;
  return 2.0 * static_cast<double>(a[0]) * static_cast<double>(a[1]) * static_cast<double>(b[1]);
}

}  // namespace

extern const OpDef kMm;
constinit const OpDef kMm = {
    .kind = OpKind::kMm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
