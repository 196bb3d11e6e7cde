// --device of `run`: what the ranks run on.
#pragma once
#include <string>

#include "runtime/collective/log.h"
#include "runtime/rank_backend.h"

namespace shw::tools {

inline constexpr const char* kCpu = "cpu";

// For `count` ranks of this process, each on a device of its own, counted from `first`. `timeout`:
// of a collective between devices. `kernel_cache`: a folder of compiled kernels; empty: none.
// INVALID_ARGUMENT: there is no device of this name, or not so many. UNAVAILABLE: the machine, or
// the build, cannot use it.
Result<runtime::RankBackend> open_backend(const std::string& name, int64_t first, int64_t count,
                                          runtime::Timeout timeout,
                                          const std::string& kernel_cache);

}  // namespace shw::tools
