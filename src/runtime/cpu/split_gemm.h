// f32 products on the matrix unit of x86 (AMX), which multiplies bf16 sixteen times as fast as
// vector units multiply f32.
//
// A 24-bit significand is exactly the sum of three 8-bit parts: high, middle and low. Products of
// two parts are exact in f32, the type in which the unit accumulates. The six products that affect
// the last bits of the result are added; the other three are omitted, each at most 2^-24 of the
// whole. So a result is as accurate as with fused multiply-adds of f32; the test
// `SplitGemm.IsAsCloseAsFusedMultiplyAdds` checks this. After Henry, Tang and Heinecke, "Leveraging
// the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations" (2019).
//
// If all numbers of a block fit in one part (bf16, small integers) or two (f16), only the products
// of those parts are computed. The result has the same bits and takes less time.
//
// The unit treats numbers below 2^-126 as zero. So results below 2^-126 are zero, and so are the
// low parts of numbers below 2^-102. A block that contains an infinity or NaN, or a number that
// rounds to infinity, is passed to `plain`, which follows IEEE 754.
#pragma once
#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

// The number of elements of scratch memory that the product needs. 0: split_gemm() does not support
// the product, because the processor has no such unit, the product is small, or an operand has gaps
// in both of its dims.
int64_t split_gemm_scratch(const Gemm<float>& g);

// g.scratch must have split_gemm_scratch(g) > 0 elements. If `plain` is not called, the bits of an
// element do not depend on m and n.
void split_gemm(const Gemm<float>& g, void (*plain)(const Gemm<float>&));

// The same for bf16 operands, which the unit multiplies without splitting; sums are f32.
struct Bf16Gemm {
  int64_t m, n, k;
  Matrix<const uint16_t> a, b;
  Matrix<float> c;
  float* scratch = nullptr;  // bf16_gemm_scratch() elements
};
int64_t bf16_gemm_scratch(const Bf16Gemm& g);
void bf16_gemm(const Bf16Gemm& g);

}  // namespace shw::runtime::cpu
