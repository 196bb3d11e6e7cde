#include "runtime/cpu/gemm.h"

#include <algorithm>

#ifdef SHW_HAVE_DNNL
#include <oneapi/dnnl/dnnl.h>
// Of the OpenMP run time that oneDNN brings; declared here so that no OpenMP compiler is needed.
extern "C" void omp_set_num_threads(int);
#endif

namespace shw::runtime::cpu {

#ifdef SHW_HAVE_DNNL

template <>
void gemm<float>(const Gemm<float>& g) {
  if (g.m == 0 || g.n == 0) return;
  // Rows of A and B as they lie in memory: of the matrix, or of its transpose.
  const auto pitch = [](const Matrix<const float>& x, int64_t rows, int64_t columns) {
    return x.column_stride == 1 ? std::max(x.row_stride, std::max<int64_t>(columns, 1))
                                : std::max(x.column_stride, std::max<int64_t>(rows, 1));
  };
  const bool ok = g.k > 0 && (g.a.column_stride == 1 || g.a.row_stride == 1) &&
                  (g.b.column_stride == 1 || g.b.row_stride == 1) &&
                  dnnl_sgemm(g.a.column_stride == 1 ? 'N' : 'T', g.b.column_stride == 1 ? 'N' : 'T',
                             g.m, g.n, g.k, 1.0f, g.a.data, pitch(g.a, g.m, g.k), g.b.data,
                             pitch(g.b, g.k, g.n), g.accumulate ? 1.0f : 0.0f, g.c.data,
                             std::max(g.c.row_stride, g.n)) == dnnl_success;
  if (!ok) plain_gemm(g);
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
