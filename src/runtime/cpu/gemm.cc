#include "runtime/cpu/gemm.h"

#include <algorithm>

#include "runtime/cpu/direct_gemm.h"
#include "runtime/transpose.h"

#ifdef SHW_HAVE_DNNL
#include <oneapi/dnnl/dnnl.h>
// Of the OpenMP run time that oneDNN brings; declared here so that no OpenMP compiler is needed.
extern "C" void omp_set_num_threads(int);
#endif

namespace shw::runtime::cpu {

template void plain_gemm(const Gemm<float>&);
template void plain_gemm(const Gemm<double>&);
template void plain_gemm(const Gemm<Int>&);
template void plain_gemm(const Gemm<Complex>&);

#ifdef SHW_HAVE_DNNL

namespace {

// Rows of A that are multiplied at a time where B is not transposed: measured, 3 to 8 % faster on
// large products than all rows at once.
constexpr int64_t kRowsAtATime = 256;
// Where A is transposed, as in the gradients of weights, oneDNN packs strips of A as deep as the
// product. If the rows of memory are whole pages apart, each step down a strip falls into the same
// few sets of the caches. A block of so many rows, so deep, is then transposed into scratch memory
// first: measured, 1.02 to 1.05 times as fast; 0.95 times at any other distance, with huge pages.
// Products with few columns read A too seldom for that.
constexpr int64_t kBlockRows = 256, kBlockDepth = 512, kLeastColumns = 128;
constexpr int64_t kPageElements = 4096 / sizeof(float);

// Rows of A and B as they lie in memory: of the matrix, or of its transpose.
int64_t pitch(const Matrix<const float>& x, int64_t rows, int64_t columns) {
  return x.column_stride == 1 ? std::max(x.row_stride, std::max<int64_t>(columns, 1))
                              : std::max(x.column_stride, std::max<int64_t>(rows, 1));
}

bool multiply(const Gemm<float>& g) {
  const bool a_plain = g.a.column_stride == 1, b_plain = g.b.column_stride == 1;
  const int64_t step = b_plain && g.m >= 2 * kRowsAtATime ? kRowsAtATime : g.m;
  const int64_t a_pitch = pitch(g.a, g.m, g.k), b_pitch = pitch(g.b, g.k, g.n);
  for (int64_t i = 0; i < g.m; i += step)
    if (dnnl_sgemm(a_plain ? 'N' : 'T', b_plain ? 'N' : 'T', std::min(step, g.m - i), g.n, g.k,
                   1.0f, g.a.data + i * g.a.row_stride, a_pitch, g.b.data, b_pitch,
                   g.accumulate ? 1.0f : 0.0f, g.c.data + i * g.c.row_stride,
                   std::max(g.c.row_stride, g.n)) != dnnl_success)
      return false;
  return true;
}

bool multiply_by_blocks(const Gemm<float>& g) {
  for (int64_t d = 0; d < g.k; d += kBlockDepth)
    for (int64_t i = 0; i < g.m; i += kBlockRows) {
      Gemm<float> block = g;
      block.m = std::min(kBlockRows, g.m - i);
      block.k = std::min(kBlockDepth, g.k - d);
      transpose(reinterpret_cast<uint32_t*>(g.scratch), block.k,
                reinterpret_cast<const uint32_t*>(&g.a.at(i, d)), g.a.column_stride, block.k,
                block.m);
      block.a = {g.scratch, block.k, 1};
      block.b.data = &g.b.at(d, 0);
      block.c.data = &g.c.at(i, 0);
      block.accumulate = g.accumulate || d > 0;
      if (!multiply(block)) return false;
    }
  return true;
}

}  // namespace

template <>
void gemm<float>(const Gemm<float>& g) {
  if (g.m == 0 || g.n == 0 || direct_gemm(g)) return;
  const bool fits = g.k > 0 && (g.a.column_stride == 1 || g.a.row_stride == 1) &&
                    (g.b.column_stride == 1 || g.b.row_stride == 1);
  const bool by_blocks = g.scratch != nullptr && gemm_scratch(g) > 0;
  if (!fits || !(by_blocks ? multiply_by_blocks(g) : multiply(g))) plain_gemm(g);
}
template <>
int64_t gemm_scratch<float>(const Gemm<float>& g) {
  const bool worthwhile = g.a.row_stride == 1 && g.a.column_stride % kPageElements == 0 &&
                          g.a.column_stride >= g.m && g.m > 1 && g.n >= kLeastColumns &&
                          g.k >= kBlockDepth;
  return worthwhile ? kBlockRows * kBlockDepth : 0;
}
bool gemm_uses_onednn() { return true; }
void use_one_gemm_thread() { omp_set_num_threads(1); }

#else

template <>
void gemm<float>(const Gemm<float>& g) {
  if (!direct_gemm(g)) plain_gemm(g);
}
template <>
int64_t gemm_scratch<float>(const Gemm<float>&) {
  return 0;
}
bool gemm_uses_onednn() { return false; }
void use_one_gemm_thread() {}

#endif

}  // namespace shw::runtime::cpu
