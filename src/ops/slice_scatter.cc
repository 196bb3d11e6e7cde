// slice_scatter: self, but with `src` as elements start, start + step, … of dim `dim`.
#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},  {"src", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, "0"}, {"start", ParamKind::kInt, "0"},
                             {"end", ParamKind::kInt},      {"step", ParamKind::kInt, "1"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const SliceRange range, slice_range(*args.attrs, args.in(0).shape));
  Dims part = args.in(0).shape;
  part[range.dim] = range.size;
  if (args.in(1).shape != part || args.in(1).dtype != args.in(0).dtype)
    return invalid_argument("src " + to_string(args.in(1)) + " is not that slice of " +
                            to_string(args.in(0)));
  return infer_same(args);
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto range = slice_range(*args.attrs, args.in(0).shape);
  if (!range.ok()) return;  // inference has refused the node before
  std::vector<bool> barred(results[0]->shape.size());
  barred[range->dim] = true;
  positionwise_rules(barred, rules);
}

}  // namespace

extern const OpDef kSliceScatter;
constinit const OpDef kSliceScatter = {
    .kind = OpKind::kSliceScatter,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kFirstOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
