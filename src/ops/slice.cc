// slice: elements start, start + step, … before end of one dim; a view. Bounds may count from the
// end, and are brought into range, as ATen does. A dim that is taken whole may stay sharded.
#include "ops/slice.h"

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, "0"},
                             {"start", ParamKind::kInt, "0"},
                             {"end", ParamKind::kInt},
                             {"step", ParamKind::kInt, "1"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const SliceRange range, slice_range(*args.attrs, args.in(0).shape));
  TensorType type = args.in(0);
  type.shape[range.dim] = range.size;
  type.strides[range.dim] *= range.step;
  return one(type);
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto range = slice_range(*args.attrs, args.in(0).shape);
  if (!range.ok()) return;  // inference has refused the node before
  std::vector<bool> barred(results[0]->shape.size());
  barred[range->dim] = range->size != args.in(0).shape[range->dim];
  positionwise_rules(barred, rules);
}

}  // namespace

extern const OpDef kSlice;
constinit const OpDef kSlice = {
    .kind = OpKind::kSlice,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
