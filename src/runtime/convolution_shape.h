// The shape of a convolution, convolution(input [N,C,…], weight [O,C/groups,…]) → [N,O,…]: each
// result is the sum over a group's channels and the places of the kernel.
#pragma once
#include <array>

#include "runtime/step_args.h"

namespace shw::runtime {

// There are one to three spatial dims. If there are fewer than three, dims of size 1 are added in
// front.
struct ConvolutionShape {
  static constexpr size_t kDims = 3;
  using Spatial = std::array<int64_t, kDims>;
  int64_t samples = 0, groups = 1, in_channels = 0, out_channels = 0;  // channels are per group
  Spatial in, out, kernel, stride, padding, dilation;

  static int64_t product(const Spatial& s) { return s[0] * s[1] * s[2]; }
  int64_t in_places() const { return product(in); }
  int64_t out_places() const { return product(out); }
  // Terms of the sum for one result.
  int64_t depth() const { return in_channels * product(kernel); }
};

// Reads the types and the attributes stride, padding, dilation, groups. INVALID_ARGUMENT: they do
// not fit each other. UNIMPLEMENTED: a transposed convolution.
Result<ConvolutionShape> convolution_shape(const Attrs& attrs, const TensorType& input,
                                           const TensorType& weight, const TensorType& result);
// The shape from a step's arguments. Forward: operands input, weight and an optional bias.
// Backward: operands gradient, input and weight; results for input, weight and bias, each optional.
Result<ConvolutionShape> convolution_shape(const KernelArgs& args);
Result<ConvolutionShape> convolution_backward_shape(const KernelArgs& args);

}  // namespace shw::runtime
