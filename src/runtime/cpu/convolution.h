// Convolutions as matrix products: for one sample and group, the input's patches stand side by side
// as the columns of a matrix (im2col).
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

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

  // Calls f(place in the patch matrix [depth, out_places], place in one group's input) for each
  // element that both have; the others are padding.
  template <class F>
  void for_each_pair(F&& f) const;
};

// From the types and attributes stride, padding, dilation, groups. INVALID_ARGUMENT: they do not
// fit each other. UNIMPLEMENTED: transposed.
Result<ConvolutionShape> convolution_shape(const Attrs& attrs, const TensorType& input,
                                           const TensorType& weight, const TensorType& result);

template <class F>
void ConvolutionShape::for_each_pair(F&& f) const {
  int64_t row = 0;  // of the patch matrix
  Spatial k, o;
  for (int64_t c = 0; c < in_channels; ++c)
    for (k[0] = 0; k[0] < kernel[0]; ++k[0])
      for (k[1] = 0; k[1] < kernel[1]; ++k[1])
        for (k[2] = 0; k[2] < kernel[2]; ++k[2], ++row) {
          int64_t column = 0;
          for (o[0] = 0; o[0] < out[0]; ++o[0])
            for (o[1] = 0; o[1] < out[1]; ++o[1])
              for (o[2] = 0; o[2] < out[2]; ++o[2], ++column) {
                int64_t place = c;
                bool inside = true;
                for (size_t d = 0; d < kDims; ++d) {
                  const int64_t at = o[d] * stride[d] - padding[d] + k[d] * dilation[d];
                  inside = inside && at >= 0 && at < in[d];
                  place = place * in[d] + at;
                }
                if (inside) f(row * out_places() + column, place);
              }
        }
}

}  // namespace shw::runtime::cpu
