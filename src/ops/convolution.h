// Shared by convolution and its backward: which inputs contribute to an output.
#pragma once
#include "ops/families.h"

namespace shw::ops {

struct Convolution {
  Dims stride, padding, dilation;  // per spatial dim
  int64_t groups = 1;
  Dims shape;  // of the result
};
// input [N,C,…], weight [O,C/groups,…], one to three spatial dims; attributes stride, padding,
// dilation (one number, or one per spatial dim), groups. UNIMPLEMENTED: transposed convolutions.
Result<Convolution> convolution_of(const Attrs& attrs, const TensorType& input,
                                   const TensorType& weight);
// Whether the patches along that spatial dim neither overlap nor leave gaps: then an even block of
// the input yields an even block of the result.
bool cuts_into_patches(const Convolution& c, const Dims& input, const Dims& weight, size_t dim);
double convolution_flops(const Convolution& c, const Dims& weight);

}  // namespace shw::ops
