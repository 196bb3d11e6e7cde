// Matrix products with an addition: addmm, baddbmm, scaled_mm.
#pragma once
#include <string_view>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// attrs.beta · input 0 + attrs.alpha · the sum that `equation` says of inputs 1 and 2. The sum is
// rounded once, with the addition; with beta = 0 input 0 is not read.
Prepared prepare_biased_product(const KernelArgs& args, std::string_view equation);

// What a product is computed in before it is scaled or added to: f32 for the half precisions.
inline TensorType wide_type(const TensorType& out) {
  const bool half = out.dtype == Dtype::kF16 || out.dtype == Dtype::kBF16;
  return row_major(half ? Dtype::kF32 : out.dtype, out.shape);
}

}  // namespace shw::runtime::cpu
