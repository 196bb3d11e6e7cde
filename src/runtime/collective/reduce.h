// The arithmetic of collectives: reduces the same block of several members, always in member order,
// so that results do not depend on the order of arrival.
#pragma once
#include <cstdint>

#include "runtime/channel.h"
#include "sharding/layout.h"
#include "support/status.h"
#include "tensor/dtype.h"

namespace shw::runtime {

// Reduces `count` elements at element offset `first` of `num_sources` arrays into `num_results`
// arrays, at element offset `result_first`. bf16 and f16 accumulate in f32 and round once; integers
// wrap around; avg divides the sum at the end, for integers towards zero. A result may be one of
// the sources if `first` and `result_first` are equal. With `past_caches`, results are written with
// streaming stores (past_caches.h), and the caller must call the fence.
struct ReduceBlock {
  const void* const* sources;
  int64_t num_sources;
  int64_t first;
  void* const* results;
  int64_t num_results;
  int64_t result_first;
  int64_t count;
  bool past_caches = false;
};
using ReduceFn = void (*)(const ReduceBlock& block);

// INVALID_ARGUMENT: the reduction is undefined (the maximum of complex numbers). UNIMPLEMENTED:
// 8-bit floats.
Result<ReduceFn> reduce_function(ReduceOp op, Dtype dtype);
// The reduction of a collective; null if it does not reduce.
Result<ReduceFn> reduction_of(const CollectiveSpec& spec);

}  // namespace shw::runtime
