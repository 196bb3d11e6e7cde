// The shape of a convolution, convolution(input [N,C,…], weight [O,C/groups,…]) → [N,O,…]: each
// result is the sum over a group's channels and the places of the kernel.
#pragma once
#include <array>

#include "runtime/step_args.h"

namespace shw::runtime {

// One to three spatial dims; fewer are filled up with size 1 in front.
struct ConvolutionShape {
  static constexpr size_t kDims = 3;
  using Spatial = std::array<int64_t, kDims>;
  int64_t samples = 0, groups = 1, in_channels = 0, out_channels = 0;  // channels: of one group
  Spatial in, out, kernel, stride, padding, dilation;

  static int64_t product(const Spatial& s) { return s[0] * s[1] * s[2]; }
  int64_t in_places() const { return product(in); }
  int64_t out_places() const { return product(out); }
  int64_t depth() const { return in_channels * product(kernel); }  // of a patch
};

// From the types and attributes stride, padding, dilation, groups. INVALID_ARGUMENT: they do not
// fit each other. UNIMPLEMENTED: transposed.
Result<ConvolutionShape> convolution_shape(const Attrs& attrs, const TensorType& input,
                                           const TensorType& weight, const TensorType& result);
// Of steps: operands input, weight, and a bias that may be absent; and of the gradients, operands
// gradient, input, weight and results for input, weight and bias, each of which may be absent.
Result<ConvolutionShape> convolution_shape(const KernelArgs& args);
Result<ConvolutionShape> convolution_backward_shape(const KernelArgs& args);

}  // namespace shw::runtime
