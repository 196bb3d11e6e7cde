// topk: the `k` largest (or smallest) values along `dim`, in order, and their indices.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"k", ParamKind::kInt, kRequired},
                             {"dim", ParamKind::kInt, "-1"},
                             {"largest", ParamKind::kBool, "true"},
                             {"sorted", ParamKind::kBool, "true"}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, along(args));
  const int64_t k = args.attrs->get_int(AttrKey::kK, -1), most = args.in(0).shape[dim];
  if (k < 0 || k > most)
    return invalid_argument("k is " + std::to_string(k) + " of " + std::to_string(most) +
                            " elements in dim " + std::to_string(dim));
  return values_and_indices(args, dim, k);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (const auto dim = along(args); dim.ok()) along_dim_rules(args, *dim, rules);
}

}  // namespace

extern const OpDef kTopk;
constinit const OpDef kTopk = {
    .kind = OpKind::kTopk,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
