// Products whose operands fit in the caches, such as those of attention. Operands are read in
// place, in tiles that stay in registers, without the packed copies that pay off for large
// products.
#pragma once
#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

// Returns false and does nothing if the processor has no AVX-512, if the product is large, if its
// sums are long, or if the rows of B have gaps. The terms of an element are added in order,
// whatever the sizes.
bool direct_gemm(const Gemm<float>& g);

}  // namespace shw::runtime::cpu
