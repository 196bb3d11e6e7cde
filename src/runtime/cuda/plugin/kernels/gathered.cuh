// Reductions of what ranks have sent, where NCCL does not reduce it: each element's values in the
// order of the ranks.
#pragma once
#include "math.cuh"
#include "reduction_formula.cuh"

SHW_KERNEL shw_reduce_gathered(void* out, const void* in, shw::runtime::cuda::GatheredArguments a) {
  using namespace shw::runtime::cuda;
  for (i64 i = thread_number(); i < a.count; i += num_threads()) {
    Int result = start(a.formula, Int{});
    for (i64 m = 0; m < a.formula.count; ++m)
      result = joined(a.formula, result, load<Int>(in, (m * a.count + i) * a.bytes, a.dtype));
    if (a.formula.kind == ReduceKind::kMean) result.v /= a.formula.count;
    store(result, out, i * a.bytes, a.dtype);
  }
}
