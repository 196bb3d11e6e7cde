// constant_pad_nd: `pad` lists, from the last dim on, how many elements of `value` are added before
// and after a dim; negative numbers remove elements. Other dims may be sharded; partial sums pass
// only if `value` is zero.
#include "ops/families.h"
#include "ops/pad.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"pad", ParamKind::kInts, kRequired},
                             {"value", ParamKind::kNumber, "0"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const Padding padding, padding_of(*args.attrs, args.in(0).shape));
  return one(row_major(args.in(0).dtype, padding.shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto padding = padding_of(*args.attrs, args.in(0).shape);
  if (!padding.ok()) return;  // inference has refused the node before
  bool adds = false;
  for (size_t d = 0; d < padding->shape.size(); ++d) {
    adds |= padding->before[d] > 0 || padding->behind[d] > 0;
    if (padding->before[d] == 0 && padding->behind[d] == 0) rules.add({shard(d)}, {shard(d)});
  }
  if (!adds || args.attrs->get_number(AttrKey::kValue, 0) == 0) pass_partials({kPSum}, rules);
  pass_partials({kPAvg, kPMax, kPMin}, rules);
}

}  // namespace

extern const OpDef kPad;
constinit const OpDef kPad = {
    .kind = OpKind::kPad,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
