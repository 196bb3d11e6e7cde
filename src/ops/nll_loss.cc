#include "ops/nll_loss.h"

namespace shw::ops {

Result<Loss> loss_of(const OpArgs& args, size_t self) {
  SHW_RETURN_IF_ERROR(want_operands(args, self + 2));
  const TensorType &scores = args.in(self), &target = args.in(self + 1);
  const int64_t reduction = args.attrs->get_int(AttrKey::kReduction, 1);
  if (scores.rank() < 1 || !is_floating(scores.dtype) || reduction < 0 || reduction > 2)
    return invalid_argument("no loss of " + to_string(scores) + " with reduction " +
                            std::to_string(reduction) + " (0: none, 1: mean, 2: sum)");
  Loss loss{scores.rank() > 1 ? size_t{1} : size_t{0}, scores.shape,
            static_cast<LossReduction>(reduction)};
  loss.target.erase(loss.classes);
  if (target.shape != loss.target || (target.dtype != Dtype::kI64 && target.dtype != Dtype::kI32))
    return invalid_argument("target " + to_string(target) + " does not fit scores " +
                            to_string(scores));
  if (args.has(self + 2) && args.in(self + 2).shape != Dims{scores.shape[loss.classes]})
    return invalid_argument("weight " + to_string(args.in(self + 2)) + " is not one per class of " +
                            to_string(scores));
  return loss;
}

}  // namespace shw::ops
