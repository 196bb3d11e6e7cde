// select_scatter: self, but with `src` as element `index` of dim `dim`.
#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"src", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kInt, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const SelectAt at, select_at(*args.attrs, args.in(0).shape));
  Dims part = args.in(0).shape;
  part.erase(at.dim);
  if (args.in(1).shape != part || args.in(1).dtype != args.in(0).dtype)
    return invalid_argument("src " + to_string(args.in(1)) + " is no element of dim " +
                            std::to_string(at.dim) + " of " + to_string(args.in(0)));
  return infer_same(args);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const Dims& shape = args.in(0).shape;
  if (const auto at = select_at(*args.attrs, shape); at.ok())
    select_rules(shape.size(), at->dim, /*part=*/1, rules);
}

}  // namespace

extern const OpDef kSelectScatter;
constinit const OpDef kSelectScatter = {
    .kind = OpKind::kSelectScatter,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .in_place = InPlace::kFirstOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
