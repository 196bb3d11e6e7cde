// What moving data costs, as the redistribution planner sees it: two functions, so that tests need
// no hardware table and the planner no cost model.
#pragma once
#include <cstdint>
#include <functional>

#include "cost/collective.h"
#include "plan/program.h"

namespace shw {

struct MovePrices {
  // µs of one collective among the ranks that differ along the mesh dims of the mask. Bytes on one
  // rank: all-gather after, reduce-scatter before, all-reduce and all-to-all either.
  std::function<double(CollectiveKind, uint32_t axes_mask, int64_t bytes)> collective_us;
  // µs of copying that many bytes within one rank (each is read once and written once).
  std::function<double(int64_t bytes)> copy_us;
};

// Those of the cost model, which must outlive them. Combined groups are priced as one collective.
MovePrices move_prices(const cost::CollectiveModel& model);

}  // namespace shw
