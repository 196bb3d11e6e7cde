// nll_loss_forward: −weight[target] · self[target] for every target except `ignore_index`:
// individually, summed (`reduction` 2), or summed and divided by the second result, the total
// weight (`reduction` 1).
#include "ops/nll_loss.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"target", ParamKind::kTensor},
                             {"weight", ParamKind::kOptionalTensor},
                             {"reduction", ParamKind::kInt, "1"},
                             {"ignore_index", ParamKind::kInt, "-100"}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Loss loss, loss_of(args, 0));
  const Dtype dtype = args.in(0).dtype;
  const bool each = loss.reduction == LossReduction::kNone;
  return std::vector<OptionalType>{row_major(dtype, each ? loss.target : Dims()),
                                   row_major(dtype, Dims())};
}

// A mean over parts is not offered: the parts would have to be weighted. Padding would count as
// targets.
void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto loss = loss_of(args, 0);
  if (!loss.ok() || loss->reduction == LossReduction::kMean) return;
  const bool each = loss->reduction == LossReduction::kNone;
  for (size_t d = 0; d < args.in(0).shape.size(); ++d) {
    if (d == loss->classes) continue;
    const Placement target = shard(d < loss->classes ? d : d - 1);
    rules.add({each ? target : kPSum, each ? kR : kPSum}, {shard(d), target, kR}, Blocks::kEven);
  }
}

}  // namespace

extern const OpDef kNllLoss;
constinit const OpDef kNllLoss = {
    .kind = OpKind::kNllLoss,
    .params = kParams,
    .infer = infer,
    .rules = rules,
};

}  // namespace shw::ops
