// What moving data costs, as the redistribution planner sees it: two functions, so that tests need
// no hardware table and the planner no cost model.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "cost/collective.h"
#include "plan/program.h"

namespace shw {

using MeshDimSwap = std::array<uint8_t, kMaxMeshRank>;

struct MovePrices {
  // µs of one collective among the ranks that differ along the mesh dims of the mask. Bytes on one
  // rank: all-gather after, reduce-scatter before, all others either.
  std::function<double(CollectiveKind, uint32_t axes_mask, int64_t bytes)> collective_us;
  // µs of copying that many bytes within one rank (each is read once and written once).
  std::function<double(int64_t bytes)> copy_us;
  // Which mesh dims can stand for each other: mesh dim m for [m], of the same size, and no price
  // changes. The identity is left out; so may be others.
  std::vector<MeshDimSwap> symmetries{};
};

// Those of the cost model, which must outlive them. Combined groups are priced as one collective.
MovePrices move_prices(const cost::CollectiveModel& model);

}  // namespace shw
