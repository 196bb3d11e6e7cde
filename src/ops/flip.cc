// flip: reverses the elements along `dims`. The other dims may be sharded.
#include "ops/reduction.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"dims", ParamKind::kInts, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_RETURN_IF_ERROR(reduced_dims(args).status());
  return infer_same(args);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  std::vector<bool> turned(args.in(0).shape.size(), false);
  for (int64_t d : args.attrs->get_ints(AttrKey::kDims))
    if (const auto dim = wrap_dim(d, args.in(0).rank())) turned[*dim] = true;
  positionwise_rules(turned, rules);
}

}  // namespace

extern const OpDef kFlip;
constinit const OpDef kFlip = {
    .kind = OpKind::kFlip,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
