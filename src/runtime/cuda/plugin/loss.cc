#include "runtime/cuda/plugin/loss.h"

#include "runtime/cuda/plugin/loops.h"
#include "runtime/loss_shape.h"

namespace shw::runtime::cuda {
namespace {

int dtype_of(const TensorType* type) { return type == nullptr ? 0 : static_cast<int>(type->dtype); }

LossArguments loss_arguments(const LossShape& loss, const TensorType& scores,
                             const TensorType& targets, const TensorType* weight) {
  LossArguments a{};
  a.targets = plain_loops(loss.targets);
  for (size_t o = 0; o < 3; ++o) set_strides(loss.strides[o], a.stride[o]);
  a.classes = loss.classes;
  a.class_step = loss.class_step;
  a.weight_step = loss.weight_step;
  a.ignored = loss.ignored;
  a.score_dtype = dtype_of(&scores);
  a.target_dtype = dtype_of(&targets);
  a.weight_dtype = dtype_of(weight);
  a.reduction = static_cast<int>(loss.reduction);
  return a;
}

class NllLossKernel final : public CudaKernel {
 public:
  NllLossKernel(const LossArguments& arguments, size_t inputs)
      : arguments_(arguments), inputs_(inputs) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    const void *scores = buffers[0], *targets = buffers[1],
               *weight = inputs_ > 2 ? buffers[2] : nullptr;
    void *out = buffers[inputs_], *total = buffers[inputs_ + 1];
    return launch_blocks(stream, DeviceKernel::shw_nll_loss, 1, out, total, scores, targets, weight,
                         stream.errors(), arguments_);
  }

 private:
  LossArguments arguments_;
  const size_t inputs_;
};

class NllLossBackwardKernel final : public CudaKernel {
 public:
  explicit NllLossBackwardKernel(const LossArguments& arguments) : arguments_(arguments) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    const void *grad = buffers[0], *targets = buffers[2], *weight = buffers[3], *total = buffers[4];
    return launch_elements(stream, DeviceKernel::shw_nll_loss_backward,
                           arguments_.targets.total * arguments_.classes, buffers[5], grad, targets,
                           weight, total, stream.errors(), arguments_);
  }

 private:
  LossArguments arguments_;
};

bool all_real(std::initializer_list<const TensorType*> types) {
  for (const TensorType* t : types)
    if (t != nullptr && !is_floating(t->dtype)) return false;
  return true;
}

}  // namespace

Prepared prepare_nll_loss(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2, 0));
  if (args.outputs.size() != 2) return bad_types("a loss has two results");
  const bool each = args.attrs.get_int(AttrKey::kReduction, 1) == 0;
  const TensorType &scores = *args.inputs[0], &targets = *args.inputs[1],
                   *weight = args.inputs.size() > 2 ? args.inputs[2] : nullptr,
                   *out = args.outputs[0], *total = args.outputs[1];
  if ((out != nullptr && !each && out->rank() != 0) || (total != nullptr && total->rank() != 0) ||
      !all_real({weight, out, total}))
    return bad_types("a loss and its total weight are one real number each");
  SHW_ASSIGN_OR_RETURN(const LossShape loss,
                       loss_shape(args, scores, targets, weight, each ? out : nullptr));
  LossArguments a = loss_arguments(loss, scores, targets, weight);
  a.beside_dtype = dtype_of(out);
  a.total_dtype = dtype_of(total);
  a.step.kernel = kernel_number("nll_loss_forward");
  return make_kernel<NllLossKernel>(a, args.inputs.size());
}

Prepared prepare_nll_loss_backward(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  if (args.inputs.size() != 5 || args.inputs[4] == nullptr || args.inputs[4]->numel() != 1)
    return bad_types("a loss has one total weight");
  const bool each = args.attrs.get_int(AttrKey::kReduction, 1) == 0;
  const TensorType &grad = *args.inputs[0], &x = *args.inputs[1], &targets = *args.inputs[2],
                   *weight = args.inputs[3], *total = args.inputs[4], &out = *args.outputs[0];
  if (x.shape != out.shape || (!each && grad.rank() != 0) || !all_real({&grad, weight, total}))
    return bad_types("gradient " + to_string(grad) + " does not match the loss of " + to_string(x) +
                     " with the result " + to_string(out) +
                     ": expected a result of the scores' shape, real dtypes, and a gradient "
                     "without dims unless 'reduction' is 0");
  SHW_ASSIGN_OR_RETURN(const LossShape loss,
                       loss_shape(args, out, targets, weight, each ? &grad : nullptr));
  LossArguments a = loss_arguments(loss, out, targets, weight);
  a.beside_dtype = dtype_of(&grad);
  a.total_dtype = dtype_of(total);
  a.step.kernel = kernel_number("nll_loss_backward");
  return make_kernel<NllLossBackwardKernel>(a);
}

}  // namespace shw::runtime::cuda
