// sort: sorted values along `dim`, and their original indices. Stable.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, "-1"},
                             {"descending", ParamKind::kBool, "false"},
                             {"stable", ParamKind::kBool, "false"}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, along(args));
  return values_and_indices(args, dim, args.in(0).shape[dim]);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (const auto dim = along(args); dim.ok()) along_dim_rules(args, *dim, rules);
}

}  // namespace

extern const OpDef kSort;
constinit const OpDef kSort = {
    .kind = OpKind::kSort,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
