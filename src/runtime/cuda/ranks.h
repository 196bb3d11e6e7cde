// Runs each rank of this process on its own CUDA device.
#pragma once
#include "runtime/collective/log.h"
#include "runtime/cuda/options.h"
#include "runtime/rank_backend.h"

namespace shw::runtime::cuda {

// Opens devices from number `first` on, with the same options. `timeout`: for a collective. Errors:
// as open_device().
Result<RankBackend> open_ranks(int64_t first, int64_t count, Timeout timeout,
                               const Options& options);

// The number of devices. UNAVAILABLE: there are none, or they cannot be used.
Result<int64_t> num_devices();

}  // namespace shw::runtime::cuda
