#include "runtime/loss_shape.h"

#include "runtime/strided.h"

namespace shw::runtime {

Result<LossShape> loss_shape(const KernelArgs& args, const TensorType& scores,
                             const TensorType& targets, const TensorType* weight,
                             const TensorType* beside) {
  const size_t at = scores.rank() > 1 ? 1 : 0;
  const int64_t reduction = args.attrs.get_int(AttrKey::kReduction, 1);
  Dims shape = scores.shape;
  if (!shape.empty()) shape.erase(at);
  const int64_t classes = scores.shape.empty() ? 0 : scores.shape[at];
  const Dims per_class{classes};
  if (scores.shape.empty() || !is_floating(scores.dtype) || targets.shape != shape ||
      (targets.dtype != Dtype::kI64 && targets.dtype != Dtype::kI32) || reduction < 0 ||
      reduction > 2 || (weight != nullptr && weight->shape != per_class) ||
      (beside != nullptr && beside->shape != shape))
    return bad_types("targets " + to_string(targets) + " do not match the scores " +
                     to_string(scores) + ": expected floating-point scores with classes in dim " +
                     std::to_string(at) +
                     ", i32 or i64 targets (and losses or gradients) with the shape of the other "
                     "dims, one weight per class, and 'reduction' 0, 1 or 2");
  LossShape loss;
  loss.targets = shape;
  loss.strides[0] = leading_strides_bytes(scores, scores.shape.size());
  loss.class_step = loss.strides[0][at];
  loss.strides[0].erase(at);
  loss.strides[1] = leading_strides_bytes(targets, shape.size());
  loss.strides[2] = beside ? leading_strides_bytes(*beside, shape.size()) : Dims(shape.size(), 0);
  loss.classes = classes;
  if (weight != nullptr) loss.weight_step = weight->strides[0] * dtype_size(weight->dtype);
  loss.reduction = static_cast<LossReduction>(reduction);
  loss.ignored = args.attrs.get_int(AttrKey::kIgnoreIndex, -100);
  return loss;
}

}  // namespace shw::runtime
