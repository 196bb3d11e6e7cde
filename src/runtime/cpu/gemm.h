// Matrix products of the CPU backend, and the only file of the project that knows oneDNN.
//
// f32 goes to oneDNN's sgemm: it takes sizes at run time, allocates nothing, and on f32 is as fast
// as its matmul primitive; bf16 is converted to f32 by the caller, which without AVX512-BF16 is
// five times faster than oneDNN's own bf16 product. With AVX-512, small products (`direct_gemm.h`)
// and large ones whose left operand is transposed (`packed_gemm.h`) are faster without it; with a
// matrix unit, all large ones are, and of bf16 as well (`split_gemm.h`). Everything else, and what
// these leave in a build without oneDNN, goes to the plain blocked loops of gemm_plain.h.
#pragma once
#include <cstdint>

#include "runtime/cpu/gemm_plain.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {

// In gemm.cc, which alone is optimised for such loops.
extern template void plain_gemm(const Gemm<float>&);
extern template void plain_gemm(const Gemm<double>&);
extern template void plain_gemm(const Gemm<Int>&);
extern template void plain_gemm(const Gemm<Complex>&);

template <class T>
void gemm(const Gemm<T>& g) {
  plain_gemm(g);
}
template <>
void gemm<float>(const Gemm<float>& g);

// Elements of scratch memory with which a product of these sizes is faster; 0: it uses none.
// Scratch is never needed for a right result. A product with fewer rows, columns or terms that
// takes some takes no more.
template <class T>
int64_t gemm_scratch(const Gemm<T>&) {
  return 0;
}
template <>
int64_t gemm_scratch<float>(const Gemm<float>& g);

bool gemm_uses_onednn();

// Ranks are threads already: called by each of them, keeps oneDNN from starting teams of its own.
void use_one_gemm_thread();

}  // namespace shw::runtime::cpu
