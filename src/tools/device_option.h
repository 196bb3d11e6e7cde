// --device of `run` and `bench`: what the ranks run on, and how.
#pragma once
#include <string>

#include "runtime/collective/log.h"
#include "runtime/cuda/options.h"
#include "runtime/rank_backend.h"
#include "tools/command_line.h"

namespace shw::tools {

inline constexpr const char* kCpu = "cpu";

// For `count` ranks of this process, each on a device of its own, counted from `first`. `timeout`:
// of a collective between devices. `cuda`: of "cuda", but for the devices' numbers.
// INVALID_ARGUMENT: there is no device of this name, or not so many. UNAVAILABLE: the machine, or
// the build, cannot use it.
Result<runtime::RankBackend> open_backend(const std::string& name, int64_t first, int64_t count,
                                          runtime::Timeout timeout,
                                          const runtime::cuda::Options& cuda);

// --kernel-cache and --deterministic, of --device cuda.
void add_cuda_options(Verb& verb, runtime::cuda::Options& options);

}  // namespace shw::tools
