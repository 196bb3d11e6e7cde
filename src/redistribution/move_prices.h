// What moving data costs, as seen by the redistribution planner. Prices are two functions, so that
// tests need no hardware table and the planner needs no cost model.
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
  // µs of one collective among the ranks that differ along the mesh dims of the mask. `bytes` are
  // those on one rank: after an all-gather, before a reduce-scatter; for all others they are the
  // same before and after.
  std::function<double(CollectiveKind, uint32_t axes_mask, int64_t bytes)> collective_us;
  // µs of copying that many bytes within one rank (each is read once and written once).
  std::function<double(int64_t bytes)> copy_us;
  // Permutations of mesh dims that change no price: dim m takes the role of dim [m], which has the
  // same size. The identity is omitted; others may be, too.
  std::vector<MeshDimSwap> symmetries{};
};

// The prices of the cost model, which must outlive them. A group over several mesh dims is priced
// as one collective.
MovePrices move_prices(const cost::CollectiveModel& model);

}  // namespace shw
