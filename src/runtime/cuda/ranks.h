// Ranks of this process on CUDA devices, each on one of its own.
#pragma once
#include "runtime/collective/log.h"
#include "runtime/cuda/options.h"
#include "runtime/rank_backend.h"

namespace shw::runtime::cuda {

// Devices from number `first` on, with options alike. `timeout`: of a collective. Errors:
// open_device().
Result<RankBackend> open_ranks(int64_t first, int64_t count, Timeout timeout,
                               const Options& options);

// How many devices there are. UNAVAILABLE: none, or they cannot be used.
Result<int64_t> num_devices();

}  // namespace shw::runtime::cuda
