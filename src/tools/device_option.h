// --device of `run` and `bench`: the device that the ranks run on.
#pragma once
#include <string>

#include "runtime/collective/log.h"
#include "runtime/cuda/options.h"
#include "runtime/rank_backend.h"
#include "tools/command_line.h"

namespace shw::tools {

inline constexpr const char* kCpu = "cpu";

// Opens the backend for `count` ranks of this process, each on its own device, numbered from
// `first`. `timeout`: for a collective between devices. `cuda`: options for "cuda"; the device
// number is ignored. INVALID_ARGUMENT: the name is unknown, or there are too few devices.
// UNAVAILABLE: the machine or the build does not support the device.
Result<runtime::RankBackend> open_backend(const std::string& name, int64_t first, int64_t count,
                                          runtime::Timeout timeout,
                                          const runtime::cuda::Options& cuda);

// --kernel-cache and --deterministic, of --device cuda.
void add_cuda_options(Verb& verb, runtime::cuda::Options& options);

}  // namespace shw::tools
