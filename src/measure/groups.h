// Times steps in fused groups, which run as one loop.
#pragma once
#include <vector>

#include "cost/kernel_times.h"
#include "support/status.h"

namespace shw::measure {

// Tables of the time that one more step adds to a group, without a launch, operands and results:
// "add.fused" by elements, "sum.fused" by elements and elements of a row. If a device runs groups
// step by step, the tables hold the times of that.
Result<std::vector<cost::KernelTimes>> measure_groups();

}  // namespace shw::measure
