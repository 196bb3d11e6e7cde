// Times of collectives between virtual ranks.
#pragma once
#include <vector>

#include "cost/calibrate.h"

namespace shw::measure {

// Each in groups of 2, 4 and 8 ranks, which are all ranks of their job, at several sizes. `cores`:
// that they share.
Result<std::vector<cost::Measurement>> measure_collectives(int64_t cores);

}  // namespace shw::measure
