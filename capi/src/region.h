// Converts the caller's shw_region to the runtime's regions: kernels that call back.
#pragma once
#include <vector>

#include "runtime/executor.h"
#include "shardwise/runtime.h"

namespace shw::capi {

// Checks that each has a unique name and a function.
Result<std::vector<runtime::RegionBody>> read_regions(const shw_region* regions, size_t count);

}  // namespace shw::capi
