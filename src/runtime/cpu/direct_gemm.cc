#include "runtime/cpu/direct_gemm.h"

#include <algorithm>

#include "runtime/cpu/gemm_tile.h"

namespace shw::runtime::cpu {

#ifdef SHW_HAVE_GEMM_TILE

namespace {

// Rows of C; with two vectors, 16 sums, which leaves registers free.
constexpr int64_t kTileRows = 8;
// Limits in elements: A is read again for every two vectors of columns, B for every eight rows.
constexpr int64_t kMostOfA = 1 << 16, kMostOfB = 1 << 17;
// The maximum number of terms that are added one after another: the rounding error of a sum grows
// with their number.
constexpr int64_t kMostTerms = 2048;

}  // namespace

bool direct_gemm(const Gemm<float>& g) {
  if (g.b.column_stride != 1 || g.k == 0 || g.k > kMostTerms || g.m * g.k > kMostOfA ||
      g.k * g.n > kMostOfB || !has_gemm_tile())
    return false;
  for (int64_t j = 0; j < g.n; j += kTileColumns)
    do_columns<kTileRows>(g, j, std::min(g.n - j, kTileColumns));
  return true;
}

#else

bool direct_gemm(const Gemm<float>&) { return false; }

#endif

}  // namespace shw::runtime::cpu
