// The arithmetic of collectives: reduces the same block of several members, always in the order of
// the members, so that results do not depend on who came first.
#pragma once
#include <cstdint>

#include "runtime/channel.h"
#include "sharding/layout.h"
#include "support/status.h"
#include "tensor/dtype.h"

namespace shw::runtime {

// Reduces `count` elements at element offset `first` of `num_sources` arrays into `num_results`
// arrays, at `result_first`. bf16 and f16 accumulate in f32 and round once; integers wrap; avg
// divides the sum at the end, for integers towards zero. A result may be one of the sources if
// `first` and `result_first` are equal. Results `past_caches` are written as past_caches.h says;
// the caller calls the fence.
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

// INVALID_ARGUMENT for what has no meaning (the maximum of complex numbers), UNIMPLEMENTED for
// 8-bit floats.
Result<ReduceFn> reduce_function(ReduceOp op, Dtype dtype);
// The same for a collective; null: it does not reduce.
Result<ReduceFn> reduction_of(const CollectiveSpec& spec);

}  // namespace shw::runtime
