// Code that nll_loss_forward and its backward step share: scores, and the targets that select among
// them.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"
#include "runtime/loss_shape.h"

namespace shw::runtime::cpu {

struct LossWalk : LossShape {
  LoadRow<Int> load = nullptr;

  // Calls f(class, offset of class 0 in the scores, offset in the third tensor) for each target
  // that is not ignored.
  template <class F>
  Status for_each(const void* from, F&& f) const {
    Status status;
    for_each_offset(targets, strides, [&](const std::array<int64_t, 3>& at) {
      if (!status.ok()) return;
      Int target;
      load(static_cast<const std::byte*>(from) + at[1], 0, 1, &target);
      if (target.v == ignored) return;
      if (target.v < 0 || target.v >= classes)
        status = Status(Code::kOutOfRange, "target " + std::to_string(target.v) + " of " +
                                               std::to_string(classes) + " classes");
      else
        f(target.v, at[0], at[2]);
    });
    return status;
  }
};
// `beside`: a tensor with the shape of the targets, or null.
Result<LossWalk> loss_walk(const KernelArgs& args, const TensorType& scores,
                           const TensorType& targets, const TensorType* weight,
                           const TensorType* beside);

}  // namespace shw::runtime::cpu
