// Products of f32 on the matrix unit of x86 (AMX), which multiplies bf16 sixteen times as fast as
// vector units multiply f32.
//
// A number of 24 bits is the sum of three of 8 bits, high, middle and low, exactly; products of two
// such parts are exact in f32, in which the unit adds them. The six products that reach the last
// bits of the result are added, and the three that do not are left out, each at most 2^-24 of the
// whole. So a result is as close to the true one as with fused multiply-adds of f32: the test
// `SplitGemm.IsAsCloseAsFusedMultiplyAdds` holds that. After Henry, Tang and Heinecke, "Leveraging
// the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations" (2019).
//
// Where the numbers of a block fit one part (bf16, small integers) or two (f16), only the products
// of those are formed: the result has the same bits, sooner.
//
// The unit takes numbers below 2^-126 as zero, and so does a result here, and the low parts of
// numbers below 2^-102. A block with an infinity or NaN, or a number that rounds to one, goes to
// `plain`: what these give is as IEEE 754 has it.
#pragma once
#include "runtime/cpu/gemm_plain.h"

namespace shw::runtime::cpu {

// Elements of scratch memory that it takes; 0: it does not multiply this, as the machine has no
// such unit, the product is small, or an operand has gaps in both of its dims.
int64_t split_gemm_scratch(const Gemm<float>& g);

// g.scratch has split_gemm_scratch(g) elements, which are more than none. The bits of an element
// do not depend on m and n where `plain` is not called.
void split_gemm(const Gemm<float>& g, void (*plain)(const Gemm<float>&));

// The same of bf16, of which the unit multiplies the bits as they are; sums are of f32.
struct Bf16Gemm {
  int64_t m, n, k;
  Matrix<const uint16_t> a, b;
  Matrix<float> c;
  float* scratch = nullptr;  // bf16_gemm_scratch() elements
};
int64_t bf16_gemm_scratch(const Bf16Gemm& g);
void bf16_gemm(const Bf16Gemm& g);

}  // namespace shw::runtime::cpu
