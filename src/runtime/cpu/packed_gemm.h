// Large f32 products with AVX-512. Blocks of A and B are copied into the order in which the tiles
// of `gemm_tile.h` read them, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008). Operands may be stored by rows or by columns.
#pragma once
#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

// The number of elements of scratch memory that the product needs. 0: packed_gemm() does not
// support the product, because the processor has no AVX-512, the product is small, or an operand
// has gaps in both of its dims.
int64_t packed_gemm_scratch(const Gemm<float>& g);

// g.scratch must have packed_gemm_scratch(g) > 0 elements. An element of C is a sum of partial sums
// of kPackedDepth terms each, in order, for all m and n.
void packed_gemm(const Gemm<float>& g);

inline constexpr int64_t kPackedDepth = 256;

}  // namespace shw::runtime::cpu
