// nll_loss_backward: the gradient of self; `total_weight` counts with reduction 1 alone.
#include "ops/nll_loss.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"grad_output", ParamKind::kTensor}, {"self", ParamKind::kTensor},
    {"target", ParamKind::kTensor},      {"weight", ParamKind::kOptionalTensor},
    {"reduction", ParamKind::kInt, "1"}, {"ignore_index", ParamKind::kInt, "-100"},
    {"total_weight", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Loss loss, loss_of(args, 1));
  const bool each = loss.reduction == LossReduction::kNone;
  if (!args.has(0) || !args.has(4) || args.in(0).shape != (each ? loss.target : Dims()) ||
      args.in(4).numel() != 1)
    return invalid_argument("gradient or total weight is missing, or does not fit " +
                            to_string(args.in(1)));
  return one(row_major(args.in(1).dtype, args.in(1).shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto loss = loss_of(args, 1);
  if (!loss.ok()) return;  // inference has refused the node before
  const bool each = loss->reduction == LossReduction::kNone;
  const Placement total = loss->reduction == LossReduction::kSum ? kPSum : kR;
  for (size_t d = 0; d < args.in(1).shape.size(); ++d) {
    if (d == loss->classes) continue;
    const Placement target = shard(d < loss->classes ? d : d - 1);
    rules.add({shard(d)}, {each ? target : kR, shard(d), target, kR, total});
  }
}

}  // namespace

extern const OpDef kNllLossBackward;
constinit const OpDef kNllLossBackward = {
    .kind = OpKind::kNllLossBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
};

}  // namespace shw::ops
