// convolution(input [N,C,…], weight [O,C/groups,…], bias?): the sum over channels and kernel
// positions, as convolution.h says.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/convolution.h"
#include "runtime/cpu/gemm.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class ConvolutionKernel final : public HostKernel {
 public:
  ConvolutionKernel(const KernelArgs& args, const ConvolutionShape& shape)
      : shape_(shape),
        input_(dense_type<T>(*args.inputs[0]), *args.inputs[0]),
        weight_(dense_type<T>(*args.inputs[1]), *args.inputs[1]),
        result_(*args.outputs[0], dense_type<T>(*args.outputs[0])),
        sizes_{args.inputs[0]->numel(), args.inputs[1]->numel(), args.outputs[0]->numel()},
        output_(args.inputs.size()) {
    if (args.inputs.size() < 3 || args.inputs[2] == nullptr) return;
    load_bias_ = load_row<T>(args.inputs[2]->dtype);
    bias_step_ = args.inputs[2]->strides[0] * dtype_size(args.inputs[2]->dtype);
  }
  int64_t workspace_bytes() const override {
    return (sizes_[0] + sizes_[1] + sizes_[2] + shape_.depth() * shape_.out_places() +
            gemm_scratch(product(nullptr, nullptr, nullptr, nullptr))) *
           static_cast<int64_t>(sizeof(T));
  }
  Status compute(void* const* buffers) noexcept override {
    const ConvolutionShape& s = shape_;
    T* input = static_cast<T*>(buffers[output_ + 1]);
    T *weight = input + sizes_[0], *result = weight + sizes_[1], *patches = result + sizes_[2];
    T* const scratch = patches + shape_.depth() * shape_.out_places();
    input_.run(input, buffers[0]);
    weight_.run(weight, buffers[1]);
    const int64_t depth = s.depth(), places = s.out_places(), in = s.in_channels * s.in_places(),
                  out = s.out_channels * places;
    std::fill_n(patches, depth * places, T{0});
    for (int64_t i = 0; i < s.samples * s.groups; ++i) {
      const T* from = input + i * in;
      for_each_pair(s, [&](int64_t patch, int64_t place) { patches[patch] = from[place]; });
      gemm(product(weight + i % s.groups * s.out_channels * depth, patches, result + i * out,
                   scratch));
    }
    if (load_bias_) add_bias(static_cast<const std::byte*>(buffers[2]), result);
    result_.run(buffers[output_], result);
    return {};
  }

 private:
  Gemm<T> product(const T* weight, const T* patches, T* result, T* scratch) const {
    const int64_t depth = shape_.depth(), places = shape_.out_places();
    return {shape_.out_channels, places, depth,  {weight, depth, 1}, {patches, places, 1},
            {result, places, 1}, false,  scratch};
  }
  void add_bias(const std::byte* from, T* result) const {
    const int64_t channels = shape_.groups * shape_.out_channels, places = shape_.out_places();
    for (int64_t i = 0; i < shape_.samples * channels; ++i) {
      T bias;
      load_bias_(from + i % channels * bias_step_, 0, 1, &bias);
      for (int64_t p = 0; p < places; ++p) result[i * places + p] += bias;
    }
  }
  ConvolutionShape shape_;
  StridedCast input_, weight_, result_;  // into the workspace, and out of it
  std::array<int64_t, 3> sizes_;
  size_t output_;
  LoadRow<T> load_bias_ = nullptr;
  int64_t bias_step_ = 0;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const ConvolutionShape shape, convolution_shape(args));
  if (args.outputs[0]->dtype == Dtype::kF64)
    return make_kernel<ConvolutionKernel<double>>(args, shape);
  return make_kernel<ConvolutionKernel<float>>(args, shape);
}

}  // namespace

extern const Kernel kConvolution;
constinit const Kernel kConvolution = {"convolution", prepare};

}  // namespace shw::runtime::cpu
