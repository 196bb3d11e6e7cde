// Ranks of this process on CUDA devices, each on one of its own.
#pragma once
#include <string>

#include "runtime/collective/log.h"
#include "runtime/rank_backend.h"

namespace shw::runtime::cuda {

// Devices from number `first` on. `timeout`: of a collective. `kernel_cache`: a folder of compiled
// kernels; empty: none. Errors: open_device().
Result<RankBackend> open_ranks(int64_t first, int64_t count, Timeout timeout,
                               const std::string& kernel_cache);

// How many devices there are. UNAVAILABLE: none, or they cannot be used.
Result<int64_t> num_devices();

}  // namespace shw::runtime::cuda
