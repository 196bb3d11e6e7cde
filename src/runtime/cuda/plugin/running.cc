#include "runtime/cuda/plugin/running.h"

#include "runtime/cuda/plugin/line_arguments.h"

namespace shw::runtime::cuda {
namespace {

class RunningKernel final : public CudaKernel {
 public:
  RunningKernel(DeviceKernel kernel, const LineArguments& arguments, size_t output)
      : kernel_(kernel), arguments_(arguments), output_(output) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const void* in = buffers[0];
    return launch_elements(stream, kernel_, arguments_.places.total, buffers[output_], in,
                           arguments_);
  }

 private:
  const DeviceKernel kernel_;
  const LineArguments arguments_;
  const size_t output_;
};

// Accumulates reals in f64, integers in int64.
Prepared running(const KernelArgs& args, bool product) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const std::array<const TensorType*, 2> tensors{args.inputs[0], args.outputs[0]};
  SHW_ASSIGN_OR_RETURN(const Lines<2> lines, lines_along(args.attrs, 0, tensors));
  if (lines.count[0] != lines.count[1])
    return bad_types(to_string(*tensors[0]) + " and " + to_string(*tensors[1]) +
                     " have different sizes in the dim that the kernel works along");
  LineArguments a = line_arguments(lines, tensors);
  a.kind = product ? 1 : 0;
  const Dtype dtype = tensors[1]->dtype;
  const DeviceKernel kernel = is_complex(dtype)    ? DeviceKernel::shw_running_c64
                              : is_floating(dtype) ? DeviceKernel::shw_running_f64
                                                   : DeviceKernel::shw_running_i64;
  return make_kernel<RunningKernel>(kernel, a, args.inputs.size());
}

}  // namespace

Prepared prepare_cumsum(const Context&, const KernelArgs& args) { return running(args, false); }
Prepared prepare_cumprod(const Context&, const KernelArgs& args) { return running(args, true); }

}  // namespace shw::runtime::cuda
