// Large products of f32 with AVX-512, from copies of blocks of A and B that lie as the tiles of
// `gemm_tile.h` read them, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008). It reads operands that lie by rows or by columns alike.
#pragma once
#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

// Elements of scratch memory that it takes; 0: it does not multiply this, as the machine has no
// vectors for it, the product is small, or an operand has gaps in both of its dims.
int64_t packed_gemm_scratch(const Gemm<float>& g);

// g.scratch has packed_gemm_scratch(g) elements, which are more than none. An element is the sum of
// sums of kPackedDepth terms each, in the order of their number, whatever m and n are.
void packed_gemm(const Gemm<float>& g);

inline constexpr int64_t kPackedDepth = 256;

}  // namespace shw::runtime::cpu
