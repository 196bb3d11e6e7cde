// The negative log-likelihood of targets and its gradient. The loss is one block's work, so that
// the order of its additions is fixed; the gradient takes a thread an element.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

// The class of a target; -1: it does not count.
__device__ inline i64 target_class(const LossArguments& a, const void* targets, i64 number,
                                   DeviceError* error) {
  const i64 target =
      load<Int>(targets, offset_at(a.targets, a.stride[1], number), a.target_dtype).v;
  if (target == a.ignored) return -1;
  if (target >= 0 && target < a.classes) return target;
  report(error, a.step, target, a.classes);
  return -1;
}
__device__ inline double class_weight(const LossArguments& a, const void* weight, i64 target) {
  return weight == nullptr ? 1 : load_real<double>(weight, target * a.weight_step, a.weight_dtype);
}

__device__ inline void nll_loss(void* out, void* total_weight, const void* scores,
                                const void* targets, const void* weight, DeviceError* error,
                                const LossArguments& a, double* sums) {
  double sum = 0, total = 0;
  for (i64 i = threadIdx.x; i < a.targets.total; i += blockDim.x) {
    const i64 target = target_class(a, targets, i, error);
    const double share = target < 0 ? 0 : class_weight(a, weight, target);
    const i64 at = offset_at(a.targets, a.stride[0], i) + target * a.class_step;
    const double loss = target < 0 ? 0 : -share * load_real<double>(scores, at, a.score_dtype);
    if (a.reduction == 0 && out != nullptr)
      store_real(loss, out, offset_at(a.targets, a.stride[2], i), a.beside_dtype);
    sum += loss;
    total += share;
  }
  sum = block_sum(sum, sums);
  total = block_sum(total, sums);
  if (threadIdx.x != 0) return;
  if (a.reduction != 0 && out != nullptr)
    store_real(a.reduction == 1 ? sum / total : sum, out, 0, a.beside_dtype);
  if (total_weight != nullptr)
    store_real(a.reduction == 0 ? 0.0 : total, total_weight, 0, a.total_dtype);
}

__device__ inline void nll_loss_backward(void* out, const void* grad, const void* targets,
                                         const void* weight, const void* total_weight,
                                         DeviceError* error, const LossArguments& a) {
  const double total = a.reduction == 1 ? load_real<double>(total_weight, 0, a.total_dtype) : 1;
  for (i64 at = thread_number(); at < a.targets.total * a.classes; at += num_threads()) {
    const i64 i = at / a.classes, of = at % a.classes;
    double slope = 0;
    if (target_class(a, targets, i, error) == of)
      slope = -class_weight(a, weight, of) *
              load_real<double>(grad, offset_at(a.targets, a.stride[2], i), a.beside_dtype) / total;
    store_real(slope, out, offset_at(a.targets, a.stride[0], i) + of * a.class_step, a.score_dtype);
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_nll_loss(void* out, void* total_weight, const void* scores, const void* targets,
                        const void* weight, shw::runtime::cuda::DeviceError* error,
                        shw::runtime::cuda::LossArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::nll_loss(out, total_weight, scores, targets, weight, error, arguments, sums);
}
SHW_KERNEL shw_nll_loss_backward(void* out, const void* grad, const void* targets,
                                 const void* weight, const void* total_weight,
                                 shw::runtime::cuda::DeviceError* error,
                                 shw::runtime::cuda::LossArguments arguments) {
  shw::runtime::cuda::nll_loss_backward(out, grad, targets, weight, total_weight, error, arguments);
}
