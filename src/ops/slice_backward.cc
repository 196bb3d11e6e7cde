// slice_backward: zeros of `input_sizes`, with the gradient at elements start, start + step, … of
// dim `dim`.
#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"input_sizes", ParamKind::kInts, kRequired},
                             {"dim", ParamKind::kInt, "0"},
                             {"start", ParamKind::kInt, "0"},
                             {"end", ParamKind::kInt},
                             {"step", ParamKind::kInt, "1"}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Dims shape, shape_before(args, /*inserted=*/false));
  SHW_ASSIGN_OR_RETURN(const SliceRange range, slice_range(*args.attrs, shape));
  if (args.in(0).shape[range.dim] != range.size)
    return invalid_argument("the slice has " + std::to_string(range.size) +
                            " elements, not those of " + to_string(args.in(0)));
  return one(row_major(args.in(0).dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto range = slice_range(*args.attrs, results[0]->shape);
  if (!range.ok()) return;  // inference has refused the node before
  std::vector<bool> barred(results[0]->shape.size());
  barred[range->dim] = true;
  positionwise_rules(barred, rules);
}

}  // namespace

extern const OpDef kSliceBackward;
constinit const OpDef kSliceBackward = {
    .kind = OpKind::kSliceBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
