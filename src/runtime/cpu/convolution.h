// Convolutions as matrix products. For one sample and group, the patches of the input are the
// columns of a matrix (im2col).
#pragma once
#include "runtime/convolution_shape.h"
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// Calls f(index in the patch matrix [depth, out_places], index in one group's input) for every
// element of the patch matrix that is an input element; the others are padding.
template <class F>
void for_each_pair(const ConvolutionShape& s, F&& f) {
  int64_t row = 0;  // row of the patch matrix
  ConvolutionShape::Spatial k, o;
  for (int64_t c = 0; c < s.in_channels; ++c)
    for (k[0] = 0; k[0] < s.kernel[0]; ++k[0])
      for (k[1] = 0; k[1] < s.kernel[1]; ++k[1])
        for (k[2] = 0; k[2] < s.kernel[2]; ++k[2], ++row) {
          int64_t column = 0;
          for (o[0] = 0; o[0] < s.out[0]; ++o[0])
            for (o[1] = 0; o[1] < s.out[1]; ++o[1])
              for (o[2] = 0; o[2] < s.out[2]; ++o[2], ++column) {
                int64_t place = c;
                bool inside = true;
                for (size_t d = 0; d < ConvolutionShape::kDims; ++d) {
                  const int64_t at = o[d] * s.stride[d] - s.padding[d] + k[d] * s.dilation[d];
                  inside = inside && at >= 0 && at < s.in[d];
                  place = place * s.in[d] + at;
                }
                if (inside) f(row * s.out_places() + column, place);
              }
        }
}

}  // namespace shw::runtime::cpu
