#include "runtime/cpu/gemm.h"

#include <algorithm>

#ifdef SHW_HAVE_DNNL
#include <oneapi/dnnl/dnnl.h>
// Of the OpenMP run time that oneDNN brings; declared here so that no OpenMP compiler is needed.
extern "C" void omp_set_num_threads(int);
#endif

namespace shw::runtime::cpu {

#ifdef SHW_HAVE_DNNL

namespace {

// Rows of A that are multiplied at a time where B is not transposed: measured, 3 to 8 % faster on
// large products than all rows at once.
constexpr int64_t kRowsAtATime = 256;
// Depth of a product that is added at a time where A is transposed, as in the gradients of weights:
// oneDNN packs strips that are as deep as the product, and where a matrix is wide, each step down
// such a strip is on another page. Measured, 8 to 27 % faster; no gain if neither A nor B is wide.
constexpr int64_t kDepthAtATime = 256, kWide = 512;

// Rows of A and B as they lie in memory: of the matrix, or of its transpose.
int64_t pitch(const Matrix<const float>& x, int64_t rows, int64_t columns) {
  return x.column_stride == 1 ? std::max(x.row_stride, std::max<int64_t>(columns, 1))
                              : std::max(x.column_stride, std::max<int64_t>(rows, 1));
}

bool multiply(const Gemm<float>& g) {
  const bool a_plain = g.a.column_stride == 1, b_plain = g.b.column_stride == 1;
  const bool by_depth = !a_plain && std::max(g.m, g.n) > kWide && g.k >= 2 * kDepthAtATime;
  const bool by_rows = !by_depth && b_plain && g.m >= 2 * kRowsAtATime;
  const int64_t rows = by_rows ? kRowsAtATime : g.m, depth = by_depth ? kDepthAtATime : g.k;
  const int64_t a_pitch = pitch(g.a, g.m, g.k), b_pitch = pitch(g.b, g.k, g.n),
                c_pitch = std::max(g.c.row_stride, g.n);
  for (int64_t i = 0; i < g.m; i += rows)
    for (int64_t d = 0; d < g.k; d += depth)
      if (dnnl_sgemm(a_plain ? 'N' : 'T', b_plain ? 'N' : 'T', std::min(rows, g.m - i), g.n,
                     std::min(depth, g.k - d), 1.0f, &g.a.at(i, d), a_pitch, &g.b.at(d, 0), b_pitch,
                     g.accumulate || d > 0 ? 1.0f : 0.0f, g.c.data + i * g.c.row_stride,
                     c_pitch) != dnnl_success)
        return false;
  return true;
}

}  // namespace

template <>
void gemm<float>(const Gemm<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  const bool fits = g.k > 0 && (g.a.column_stride == 1 || g.a.row_stride == 1) &&
                    (g.b.column_stride == 1 || g.b.row_stride == 1);
  if (!fits || !multiply(g)) plain_gemm(g);
}
bool gemm_uses_onednn() { return true; }
void use_one_gemm_thread() { omp_set_num_threads(1); }

#else

template <>
void gemm<float>(const Gemm<float>& g) {
  plain_gemm(g);
}
bool gemm_uses_onednn() { return false; }
void use_one_gemm_thread() {}

#endif

}  // namespace shw::runtime::cpu
