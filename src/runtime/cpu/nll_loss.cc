#include "runtime/cpu/nll_loss.h"

namespace shw::runtime::cpu {

Result<LossWalk> loss_walk(const KernelArgs& args, const TensorType& scores,
                           const TensorType& targets, const TensorType* weight,
                           const TensorType* beside) {
  LossWalk walk;
  SHW_ASSIGN_OR_RETURN(static_cast<LossShape&>(walk),
                       loss_shape(args, scores, targets, weight, beside));
  walk.load = load_row<Int>(targets.dtype);
  return walk;
}

}  // namespace shw::runtime::cpu
