// Times of steps in groups that run as one loop.
#pragma once
#include <vector>

#include "cost/kernel_times.h"
#include "support/status.h"

namespace shw::measure {

// Tables of what one step more adds to a group, without a launch, operands and results: "add.fused"
// by elements, "sum.fused" by elements and elements of a row. Where a device runs groups step by
// step, they hold what that takes.
Result<std::vector<cost::KernelTimes>> measure_groups();

}  // namespace shw::measure
