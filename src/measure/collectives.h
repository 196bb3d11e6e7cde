// Times of collectives between virtual ranks.
#pragma once
#include <vector>

#include "cost/calibrate.h"
#include "runtime/rank_backend.h"

namespace shw::measure {

// Times each collective at several sizes in groups of 2, 4 and 8 ranks, which are all ranks of
// their job. `cores`: the number of cores that the ranks share.
Result<std::vector<cost::Measurement>> measure_collectives(int64_t cores);

// The same for `devices` ranks with a device each, at these sizes. `side`: of the square product
// that a rank computes between two collectives.
Result<std::vector<cost::Measurement>> measure_collectives(const runtime::RankBackend& backend,
                                                           int64_t devices, int64_t side,
                                                           const std::vector<int64_t>& bytes);

}  // namespace shw::measure
