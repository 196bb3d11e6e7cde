// The scores of a loss beside the targets that choose among them.
#pragma once
#include <array>

#include "runtime/step_args.h"

namespace shw::runtime {

enum class LossReduction : uint8_t { kNone = 0, kMean = 1, kSum = 2 };

struct LossShape {
  Dims targets;                 // their shape
  std::array<Dims, 3> strides;  // of the scores (without the class dim), targets, one tensor more
  int64_t classes = 0, class_step = 0;  // of the scores; bytes from one to the next
  int64_t weight_step = 0;              // of a weight per class
  LossReduction reduction = LossReduction::kMean;
  int64_t ignored = 0;  // targets with this class do not count
};
// `beside`: of the targets' shape, or null.
Result<LossShape> loss_shape(const KernelArgs& args, const TensorType& scores,
                             const TensorType& targets, const TensorType* weight,
                             const TensorType* beside);

}  // namespace shw::runtime
