// convolution_backward(grad, input, weight) → gradients of input, weight and bias; as convolution.h
// says, with the patches of the input for the weight, and of its gradient added up for the input.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/convolution.h"
#include "runtime/cpu/gemm.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class ConvolutionBackward final : public HostKernel {
 public:
  ConvolutionBackward(const KernelArgs& args, const ConvolutionShape& shape) : shape_(shape) {
    for (size_t i = 0; i < 3; ++i) {
      in_[i] = StridedCast(dense_type<T>(*args.inputs[i]), *args.inputs[i]);
      sizes_[i] = args.inputs[i]->numel();
      if (args.outputs[i]) out_[i] = StridedCast(*args.outputs[i], dense_type<T>(*args.outputs[i]));
    }
  }
  // Gradient, input, weight; gradients of input, weight and bias; patches; scratch of products.
  int64_t workspace_bytes() const override {
    return (sizes_[0] + 2 * sizes_[1] + 2 * sizes_[2] + channels() +
            shape_.depth() * shape_.out_places() +
            std::max(gemm_scratch(weight_product(nullptr, nullptr, nullptr, nullptr)),
                     gemm_scratch(patch_product(nullptr, nullptr, nullptr, nullptr)))) *
           static_cast<int64_t>(sizeof(T));
  }
  Status compute(void* const* buffers) noexcept override {
    const ConvolutionShape& s = shape_;
    T* grad = static_cast<T*>(buffers[6]);
    T *input = grad + sizes_[0], *weight = input + sizes_[1], *dinput = weight + sizes_[2],
      *dweight = dinput + sizes_[1], *dbias = dweight + sizes_[2], *patches = dbias + channels(),
      *scratch = patches + shape_.depth() * shape_.out_places();
    T* const in[] = {grad, input, weight};
    T* const out[] = {dinput, dweight, dbias};
    for (size_t i = 0; i < 3; ++i) in_[i].run(in[i], buffers[i]);
    const int64_t depth = s.depth(), places = s.out_places();
    std::fill_n(dinput, sizes_[1] + sizes_[2] + channels(), T{0});
    for (int64_t i = 0; i < s.samples * s.groups; ++i) {
      const int64_t group = i % s.groups;
      const T* g = grad + i * s.out_channels * places;
      const int64_t first = i * s.in_channels * s.in_places();
      if (buffers[4] != nullptr) {  // dweight += g · patchesᵀ
        std::fill_n(patches, depth * places, T{0});
        for_each_pair(s, [&](int64_t p, int64_t at) { patches[p] = input[first + at]; });
        gemm(weight_product(g, patches, dweight + group * s.out_channels * depth, scratch));
      }
      if (buffers[3] != nullptr) {  // patches = weightᵀ · g, added up where they come from
        gemm(patch_product(weight + group * s.out_channels * depth, g, patches, scratch));
        for_each_pair(s, [&](int64_t p, int64_t at) { dinput[first + at] += patches[p]; });
      }
    }
    for (int64_t i = 0; i < s.samples * channels(); ++i)
      for (int64_t p = 0; p < places; ++p) dbias[i % channels()] += grad[i * places + p];
    for (size_t i = 0; i < 3; ++i)
      if (buffers[3 + i] != nullptr) out_[i].run(buffers[3 + i], out[i]);
    return {};
  }

 private:
  Gemm<T> weight_product(const T* grad, const T* patches, T* dweight, T* scratch) const {
    const int64_t depth = shape_.depth(), places = shape_.out_places();
    return {shape_.out_channels, depth, places, {grad, places, 1}, {patches, 1, places},
            {dweight, depth, 1}, true,  scratch};
  }
  Gemm<T> patch_product(const T* weight, const T* grad, T* patches, T* scratch) const {
    const int64_t depth = shape_.depth(), places = shape_.out_places();
    return {depth,
            places,
            shape_.out_channels,
            {weight, 1, depth},
            {grad, places, 1},
            {patches, places, 1},
            false,
            scratch};
  }
  int64_t channels() const { return shape_.groups * shape_.out_channels; }
  ConvolutionShape shape_;
  std::array<StridedCast, 3> in_, out_;  // into the workspace, and out of it
  std::array<int64_t, 3> sizes_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const ConvolutionShape shape, convolution_backward_shape(args));
  if (args.inputs[0]->dtype == Dtype::kF64)
    return make_kernel<ConvolutionBackward<double>>(args, shape);
  return make_kernel<ConvolutionBackward<float>>(args, shape);
}

}  // namespace

extern const Kernel kConvolutionBackward;
constinit const Kernel kConvolutionBackward = {"convolution_backward", prepare};

}  // namespace shw::runtime::cpu
