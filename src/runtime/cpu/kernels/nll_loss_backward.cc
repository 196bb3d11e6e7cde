// nll_loss_backward(grad, x, targets, weight?, total weight) → −weight·grad at each target's class,
// divided by the total weight if attrs.reduction is 1; zero elsewhere.
#include "runtime/cpu/nll_loss.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class NllLossBackward final : public HostKernel {
 public:
  NllLossBackward(const KernelArgs& args, const LossWalk& walk)
      : walk_(walk),
        zero_(*args.outputs[0]),
        load_(load_row<double>(args.inputs[0]->dtype)),
        load_total_(load_row<double>(args.inputs[4]->dtype)),
        store_(store_row<double>(args.outputs[0]->dtype)) {
    if (args.inputs[3]) load_weight_ = load_row<double>(args.inputs[3]->dtype);
  }
  Status compute(void* const* buffers) override {
    auto* out = static_cast<std::byte*>(buffers[5]);
    zero_.run(out);
    double total = 1;
    if (walk_.reduction == LossReduction::kMean)
      load_total_(static_cast<const std::byte*>(buffers[4]), 0, 1, &total);
    return walk_.for_each(buffers[2], [&](int64_t chosen, int64_t scores, int64_t from) {
      double grad, weight = 1;
      load_(static_cast<const std::byte*>(buffers[0]) + from, 0, 1, &grad);
      if (load_weight_)
        load_weight_(static_cast<const std::byte*>(buffers[3]) + chosen * walk_.weight_step, 0, 1,
                     &weight);
      const double slope = -weight * grad / total;
      store_(&slope, 1, out + scores + chosen * walk_.class_step, 0);
    });
  }

 private:
  LossWalk walk_;  // over the result in place of the scores
  StridedFill zero_;
  LoadRow<double> load_, load_total_, load_weight_ = nullptr;
  StoreRow<double> store_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  if (args.inputs.size() != 5 || args.inputs[4] == nullptr || args.inputs[4]->numel() != 1)
    return bad_types("a loss has one total weight");
  const bool each = args.attrs.get_int(AttrKey::kReduction, 1) == 0;
  const TensorType &grad = *args.inputs[0], &x = *args.inputs[1], &out = *args.outputs[0];
  if (x.shape != out.shape || (!each && grad.rank() != 0))
    return bad_types("gradient " + to_string(grad) + " does not match the loss of " + to_string(x) +
                     " with the result " + to_string(out) +
                     ": expected a result of the scores' shape, and a gradient without dims unless "
                     "'reduction' is 0");
  SHW_ASSIGN_OR_RETURN(const LossWalk walk, loss_walk(args, out, *args.inputs[2], args.inputs[3],
                                                      each ? &grad : nullptr));
  return make_kernel<NllLossBackward>(args, walk);
}

}  // namespace

extern const Kernel kNllLossBackward;
constinit const Kernel kNllLossBackward = {"nll_loss_backward", prepare};

}  // namespace shw::runtime::cpu
