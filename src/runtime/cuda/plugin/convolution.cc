#include "runtime/cuda/plugin/convolution.h"

#include <algorithm>

#include "runtime/convolution_shape.h"
#include "runtime/cuda/plugin/convolution_cudnn.h"
#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/reduction.h"
#include "runtime/cuda/plugin/tiles.h"

namespace shw::runtime::cuda {
namespace {

// Samples, channels and three spatial dims; the first spatial dims may be absent.
ConvolutionWindow window_of(const TensorType& type) {
  ConvolutionWindow w{};
  const Dims strides = strides_bytes(type);
  for (size_t d = 0; d < strides.size(); ++d)
    w.stride[d < 2 ? d : 5 - strides.size() + d] = strides[d];
  w.dtype = static_cast<int>(type.dtype);
  return w;
}

void set_spatial(const ConvolutionShape::Spatial& from, i64* to) {
  for (size_t d = 0; d < ConvolutionShape::kDims; ++d) to[d] = from[d];
}

ConvolutionArguments arguments_of(const ConvolutionShape& s, const TensorType& input,
                                  const TensorType& weight, const TensorType& result) {
  ConvolutionArguments a{};
  a.samples = s.samples;
  a.groups = s.groups;
  a.in_channels = s.in_channels;
  a.out_channels = s.out_channels;
  a.in_places = s.in_places();
  a.out_places = s.out_places();
  a.kernel_places = ConvolutionShape::product(s.kernel);
  set_spatial(s.in, a.in);
  set_spatial(s.out, a.out);
  set_spatial(s.kernel, a.kernel);
  set_spatial(s.stride, a.stride);
  set_spatial(s.padding, a.padding);
  set_spatial(s.dilation, a.dilation);
  a.input = window_of(input);
  a.weight = window_of(weight);
  a.result = window_of(result);
  return a;
}

int64_t workspace_of(const std::unique_ptr<ConvolutionByCudnn>& by_cudnn) {
  return by_cudnn != nullptr ? by_cudnn->workspace_bytes() : 0;
}

bool can_run(const std::unique_ptr<ConvolutionByCudnn>& by_cudnn, const ConvolutionBuffers& at) {
  return by_cudnn != nullptr && ConvolutionByCudnn::takes(at);
}

class Convolution final : public CudaKernel {
 public:
  Convolution(const ConvolutionArguments& arguments, std::unique_ptr<ConvolutionByCudnn> by_cudnn,
              bool has_bias, size_t output)
      : arguments_(arguments),
        by_cudnn_(std::move(by_cudnn)),
        has_bias_(has_bias),
        output_(output) {}
  int64_t workspace_bytes() const override { return workspace_of(by_cudnn_); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const ConvolutionArguments& a = arguments_;
    const void *input = buffers[0], *weight = buffers[1], *bias = has_bias_ ? buffers[2] : nullptr;
    if (const ConvolutionBuffers at{buffers[0], buffers[1], buffers[output_], bias};
        can_run(by_cudnn_, at))
      return by_cudnn_->run(stream, at, buffers[output_ + 1]);
    return launch_tiles(stream,
                        a.result.dtype == kDeviceF64 ? DeviceKernel::shw_convolve_f64
                                                     : DeviceKernel::shw_convolve_f32,
                        a.groups * tiles_of(a.out_channels) * tiles_of(a.samples * a.out_places),
                        buffers[output_], input, weight, bias, a);
  }

 private:
  const ConvolutionArguments arguments_;
  const std::unique_ptr<ConvolutionByCudnn> by_cudnn_;  // null: it does not
  const bool has_bias_;
  const size_t output_;
};

// Operands: gradient, input, weight. Results: gradients of input, weight and bias. Computed in f64
// if the gradient is f64.
class ConvolutionBackward final : public CudaKernel {
 public:
  struct Part {
    ConvolutionArguments arguments;  // with the window of the computed tensor as the result
    std::unique_ptr<ConvolutionByCudnn> by_cudnn;  // null: it does not
  };
  ConvolutionBackward(Part to_input, Part to_weight, std::unique_ptr<PreparedKernel> to_bias)
      : to_input_(std::move(to_input)),
        to_weight_(std::move(to_weight)),
        to_bias_(std::move(to_bias)) {}
  // The parts run one after another, in the same memory.
  int64_t workspace_bytes() const override {
    return std::max({workspace_of(to_input_.by_cudnn), workspace_of(to_weight_.by_cudnn),
                     to_bias_ != nullptr ? to_bias_->workspace_bytes() : 0});
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    if (buffers[3] != nullptr) SHW_RETURN_IF_ERROR(enqueue_to_input(stream, buffers));
    if (buffers[4] != nullptr) SHW_RETURN_IF_ERROR(enqueue_to_weight(stream, buffers));
    if (to_bias_ == nullptr) return {};
    void* const operands[] = {buffers[0], buffers[5], buffers[6]};
    to_bias_->origin = origin;
    to_bias_->launch(stream, operands);  // reads `operands` before it returns
    return {};
  }

 private:
  Status enqueue_to_input(CudaStream& stream, void* const* buffers) {
    const ConvolutionArguments& a = to_input_.arguments;
    if (const ConvolutionBuffers at{buffers[3], buffers[2], buffers[0]};
        can_run(to_input_.by_cudnn, at))
      return to_input_.by_cudnn->run(stream, at, buffers[6]);
    const void *grad = buffers[0], *weight = buffers[2];
    return launch_tiles(stream,
                        a.result.dtype == kDeviceF64 ? DeviceKernel::shw_convolve_to_input_f64
                                                     : DeviceKernel::shw_convolve_to_input_f32,
                        a.groups * tiles_of(a.in_channels) * tiles_of(a.samples * a.in_places),
                        buffers[3], grad, weight, a);
  }
  Status enqueue_to_weight(CudaStream& stream, void* const* buffers) {
    const ConvolutionArguments& a = to_weight_.arguments;
    if (const ConvolutionBuffers at{buffers[1], buffers[4], buffers[0]};
        can_run(to_weight_.by_cudnn, at))
      return to_weight_.by_cudnn->run(stream, at, buffers[6]);
    const void *grad = buffers[0], *input = buffers[1];
    return launch_tiles(
        stream,
        a.result.dtype == kDeviceF64 ? DeviceKernel::shw_convolve_to_weight_f64
                                     : DeviceKernel::shw_convolve_to_weight_f32,
        a.groups * tiles_of(a.out_channels) * tiles_of(a.in_channels * a.kernel_places), buffers[4],
        grad, input, a);
  }

  const Part to_input_, to_weight_;
  const std::unique_ptr<PreparedKernel> to_bias_;  // null: the result is absent
};

// The sum of the gradient over all dims except channels.
Prepared prepare_bias_gradient(const Context& context, const KernelArgs& args) {
  const TensorType& grad = *args.inputs[0];
  std::vector<int64_t> over;
  for (int64_t d = 0; d < grad.rank(); ++d)
    if (d != 1) over.push_back(d);
  Attrs attrs;
  attrs.set(AttrKey::kDims, over);
  return prepare_sum(context, {std::span(&args.inputs[0], 1), std::span(&args.outputs[2], 1), attrs,
                               args.mesh, args.rank});
}

}  // namespace

Prepared prepare_convolution(const Context& context, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const ConvolutionShape shape, convolution_shape(args));
  const TensorType &input = *args.inputs[0], &weight = *args.inputs[1], &result = *args.outputs[0];
  ConvolutionArguments a = arguments_of(shape, input, weight, result);
  const TensorType* bias = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
  if (bias != nullptr) {
    a.bias_step = strides_bytes(*bias)[0];
    a.bias_dtype = static_cast<int>(bias->dtype);
  }
  auto by_cudnn = ConvolutionByCudnn::create(context, ConvolutionTo::kResult, shape,
                                             {input, weight, result, bias});
  return make_kernel<Convolution>(a, std::move(by_cudnn), bias != nullptr, args.inputs.size());
}

Prepared prepare_convolution_backward(const Context& context, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const ConvolutionShape shape, convolution_backward_shape(args));
  const TensorType &grad = *args.inputs[0], &input = *args.inputs[1], &weight = *args.inputs[2];
  ConvolutionBackward::Part to_input{arguments_of(shape, input, weight, grad), nullptr};
  ConvolutionBackward::Part to_weight{to_input.arguments, nullptr};
  if (const TensorType* made = args.outputs[0]) {
    to_input.arguments.input = window_of(*made);
    to_input.by_cudnn =
        ConvolutionByCudnn::create(context, ConvolutionTo::kInput, shape, {*made, weight, grad});
  }
  if (const TensorType* made = args.outputs[1]) {
    to_weight.arguments.weight = window_of(*made);
    to_weight.by_cudnn =
        ConvolutionByCudnn::create(context, ConvolutionTo::kWeight, shape, {input, *made, grad});
  }
  std::unique_ptr<PreparedKernel> to_bias;
  if (args.outputs[2] != nullptr) {
    SHW_ASSIGN_OR_RETURN(to_bias, prepare_bias_gradient(context, args));
  }
  return make_kernel<ConvolutionBackward>(std::move(to_input), std::move(to_weight),
                                          std::move(to_bias));
}

}  // namespace shw::runtime::cuda
