// Matrix products of the CPU backend, and the only file of the project that knows oneDNN.
//
// f32 uses oneDNN's sgemm: it takes sizes at run time, allocates nothing, and for f32 is as fast as
// oneDNN's matmul primitive. The caller converts bf16 to f32: without AVX512-BF16 this is five
// times faster than oneDNN's own bf16 product. With AVX-512, our own code is faster for small
// products (`direct_gemm.h`), and for large ones whose left operand is transposed
// (`packed_gemm.h`). With a matrix unit it is faster for all large products, also of bf16
// (`split_gemm.h`). Other types, and in a build without oneDNN all remaining products, use the
// plain blocked loops of gemm_plain.h.
#pragma once
#include <cstdint>

#include "runtime/cpu/gemm_plain.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {

// Instantiated in gemm.cc, the only file that is compiled with optimisation for such loops.
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

// The number of elements of scratch memory that makes a product of these sizes faster; 0: it uses
// none. The result is correct without scratch. If a product uses scratch, a product with fewer
// rows, columns or terms needs no more.
template <class T>
int64_t gemm_scratch(const Gemm<T>&) {
  return 0;
}
template <>
int64_t gemm_scratch<float>(const Gemm<float>& g);

bool gemm_uses_onednn();

// Called by each rank's thread: keeps oneDNN from starting its own threads, because the ranks
// already run in parallel.
void use_one_gemm_thread();

}  // namespace shw::runtime::cpu
