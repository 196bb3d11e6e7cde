// select_backward: zeros of `input_sizes`, with the gradient at element `index` of dim `dim`.
#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"input_sizes", ParamKind::kInts, kRequired},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kInt, kRequired}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Dims shape, shape_before(args, /*inserted=*/true));
  SHW_RETURN_IF_ERROR(select_at(*args.attrs, shape).status());
  return one(row_major(args.in(0).dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const Dims& shape = results[0]->shape;
  if (const auto at = select_at(*args.attrs, shape); at.ok())
    select_rules(shape.size(), at->dim, /*part=*/0, rules);
}

}  // namespace

extern const OpDef kSelectBackward;
constinit const OpDef kSelectBackward = {
    .kind = OpKind::kSelectBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
