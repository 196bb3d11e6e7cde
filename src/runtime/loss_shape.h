// The scores of a loss, and the targets that select among them.
#pragma once
#include <array>

#include "runtime/step_args.h"

namespace shw::runtime {

enum class LossReduction : uint8_t { kNone = 0, kMean = 1, kSum = 2 };

struct LossShape {
  Dims targets;  // their shape
  // Strides of the scores (without the class dim), of the targets, and of a third tensor.
  std::array<Dims, 3> strides;
  int64_t classes = 0, class_step = 0;  // of the scores; step in bytes
  int64_t weight_step = 0;              // step of the class weights, in bytes
  LossReduction reduction = LossReduction::kMean;
  int64_t ignored = 0;  // targets of this class are ignored
};
// `beside`: a tensor with the shape of the targets, or null.
Result<LossShape> loss_shape(const KernelArgs& args, const TensorType& scores,
                             const TensorType& targets, const TensorType* weight,
                             const TensorType* beside);

}  // namespace shw::runtime
