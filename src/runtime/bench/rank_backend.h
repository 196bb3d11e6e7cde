// Finds the backend on which virtual ranks are timed, by name.
#pragma once
#include <string_view>

#include "runtime/cuda/options.h"
#include "runtime/virtual_ranks.h"

namespace shw::runtime {

// "cpu", "null" or "cuda". With "cuda" each rank gets its own device, from the first device on.
// UNAVAILABLE: this machine or this build has no such device. INVALID_ARGUMENT: there are too few
// devices, or the name is unknown.
// `options`: for "cuda"; the device number is ignored.
Result<RankBackend> rank_backend(std::string_view device, int64_t ranks,
                                 const cuda::Options& options = {});

}  // namespace shw::runtime
