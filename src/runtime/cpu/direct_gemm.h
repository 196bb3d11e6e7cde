// Products whose operands lie in the caches, such as those of attention: multiplied from where they
// lie, in tiles that stay in registers, and without the packed copies that pay for large products.
#pragma once
#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

// False: the machine has no vectors for it, the product is large, its sums are long, or the rows of
// B have gaps; then nothing is done. An element's terms are added in the order of their number,
// whatever the sizes.
bool direct_gemm(const Gemm<float>& g);

}  // namespace shw::runtime::cpu
