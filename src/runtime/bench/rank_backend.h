// The backends that virtual ranks can be timed on, by name.
#pragma once
#include <string_view>

#include "runtime/cuda/options.h"
#include "runtime/virtual_ranks.h"

namespace shw::runtime {

// "cpu", "null", or "cuda": there each rank has a device of its own, from the first one on.
// UNAVAILABLE: this machine, or this build, has no such device. INVALID_ARGUMENT: it has not so
// many, or the name is another.
// `options`: of "cuda", but for the devices' numbers.
Result<RankBackend> rank_backend(std::string_view device, int64_t ranks,
                                 const cuda::Options& options = {});

}  // namespace shw::runtime
