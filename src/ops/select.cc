// select: element `index` of dim `dim`, which is removed; a view.
#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kInt, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const SelectAt at, select_at(*args.attrs, args.in(0).shape));
  TensorType type = args.in(0);
  type.shape.erase(at.dim);
  type.strides.erase(at.dim);
  return one(type);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const Dims& shape = args.in(0).shape;
  if (const auto at = select_at(*args.attrs, shape); at.ok())
    select_rules(shape.size(), at->dim, /*part=*/1, rules);
}

}  // namespace

extern const OpDef kSelect;
constinit const OpDef kSelect = {
    .kind = OpKind::kSelect,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
