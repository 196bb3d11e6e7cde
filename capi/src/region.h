// What the caller's shw_region are to the runtime: kernels that call back.
#pragma once
#include <vector>

#include "runtime/executor.h"
#include "shardwise/runtime.h"

namespace shw::capi {

// Checked: each has a name of its own and a function.
Result<std::vector<runtime::RegionBody>> read_regions(const shw_region* regions, size_t count);

}  // namespace shw::capi
