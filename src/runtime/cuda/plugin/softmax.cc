#include "runtime/cuda/plugin/softmax.h"

#include "runtime/cuda/plugin/line_arguments.h"

namespace shw::runtime::cuda {
namespace {

// N − 1 inputs, one result.
template <size_t N>
class SoftmaxKernel final : public CudaKernel {
 public:
  SoftmaxKernel(DeviceKernel kernel, const LineArguments& arguments)
      : kernel_(kernel), arguments_(arguments) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const void *first = buffers[0], *second = buffers[1];
    void* out = buffers[N - 1];
    const int64_t lines = arguments_.places.total;
    if constexpr (N == 2)
      return launch_blocks(stream, kernel_, lines, out, first, arguments_);
    else
      return launch_blocks(stream, kernel_, lines, out, first, second, arguments_);
  }

 private:
  const DeviceKernel kernel_;
  const LineArguments arguments_;
};

template <size_t N>
Prepared softmax_of(const KernelArgs& args, bool logarithm) {
  SHW_RETURN_IF_ERROR(expect_operands(args, N - 1));
  const TensorType& out = *args.outputs[0];
  std::array<const TensorType*, N> tensors;
  bool fits = args.inputs.size() == N - 1 && is_floating(out.dtype);
  for (size_t o = 0; fits && o + 1 < N; ++o) {
    tensors[o] = args.inputs[o];
    fits = is_floating(tensors[o]->dtype);
  }
  if (!fits) return bad_types("no softmax in " + to_string(out));
  tensors[N - 1] = &out;
  SHW_ASSIGN_OR_RETURN(const Lines<N> lines, lines_along(args.attrs, -1, tensors));
  for (int64_t count : lines.count)
    if (count != lines.count[0]) return bad_types("lines of a softmax differ in length");
  LineArguments a = line_arguments(lines, tensors);
  a.kind = logarithm ? 1 : 0;
  const bool is_f64 = out.dtype == Dtype::kF64;
  const DeviceKernel forward =
      is_f64 ? DeviceKernel::shw_softmax_f64 : DeviceKernel::shw_softmax_f32;
  const DeviceKernel backward =
      is_f64 ? DeviceKernel::shw_softmax_backward_f64 : DeviceKernel::shw_softmax_backward_f32;
  return make_kernel<SoftmaxKernel<N>>(N == 2 ? forward : backward, a);
}

}  // namespace

Prepared prepare_softmax(const Context&, const KernelArgs& args) {
  return softmax_of<2>(args, false);
}
Prepared prepare_log_softmax(const Context&, const KernelArgs& args) {
  return softmax_of<2>(args, true);
}
Prepared prepare_softmax_backward(const Context&, const KernelArgs& args) {
  return softmax_of<3>(args, false);
}
Prepared prepare_log_softmax_backward(const Context&, const KernelArgs& args) {
  return softmax_of<3>(args, true);
}

}  // namespace shw::runtime::cuda
