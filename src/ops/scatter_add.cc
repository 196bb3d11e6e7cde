// scatter_add: self with the elements of `src` added at positions `index` along `dim`; elementwise
// in the other dims. Linear in self and src together.
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kTensor},
                             {"src", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(lookup_dim(args, 1).status());
  const TensorType& index = args.in(1);
  SHW_RETURN_IF_ERROR(want_operands(args, 3));
  if (args.in(2).shape != index.shape || args.in(2).dtype != args.in(0).dtype)
    return invalid_argument("src " + to_string(args.in(2)) + " does not fit indices " +
                            to_string(index) + " into " + to_string(args.in(0)));
  return one(row_major(args.in(0).dtype, args.in(0).shape));
}

void full_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  scatter_full_rules(args, results, rules);
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {p, kR, p});
}

}  // namespace

extern const OpDef kScatterAdd;
constinit const OpDef kScatterAdd = {
    .kind = OpKind::kScatterAdd,
    .params = kParams,
    .infer = infer,
    .rules = scatter_rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .in_place = InPlace::kFirstOperand,
};

}  // namespace shw::ops
