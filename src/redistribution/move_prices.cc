#include "redistribution/move_prices.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "cost/roofline.h"

namespace shw {

namespace {

bool changes_no_price(const cost::CollectiveModel& model, const MeshDimSwap& swap) {
  const Mesh& mesh = model.mesh();
  for (int m = 0; m < mesh.rank(); ++m)
    if (mesh.size(swap[static_cast<size_t>(m)]) != mesh.size(m)) return false;
  for (uint32_t mask = 1; mask < 1u << mesh.rank(); ++mask) {
    uint32_t other = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1)
      other |= 1u << swap[static_cast<size_t>(std::countr_zero(left))];
    if (!model.cost_the_same(mask, other)) return false;
  }
  return true;
}

std::vector<MeshDimSwap> symmetries(const cost::CollectiveModel& model) {
  const int rank = model.mesh().rank();
  std::vector<MeshDimSwap> found;
  MeshDimSwap swap;
  std::iota(swap.begin(), swap.end(), uint8_t{0});
  while (std::next_permutation(swap.begin(), swap.begin() + rank))
    if (changes_no_price(model, swap)) found.push_back(swap);
  return found;
}

}  // namespace

MovePrices move_prices(const cost::CollectiveModel& model) {
  static_assert(static_cast<int>(CollectiveKind::kAllGather) - 1 ==
                    static_cast<int>(cost::Collective::kAllGather) &&
                static_cast<int>(CollectiveKind::kReduceScatter) - 1 ==
                    static_cast<int>(cost::Collective::kReduceScatter) &&
                static_cast<int>(CollectiveKind::kAllReduce) - 1 ==
                    static_cast<int>(cost::Collective::kAllReduce) &&
                static_cast<int>(CollectiveKind::kAllToAll) - 1 ==
                    static_cast<int>(cost::Collective::kAllToAll) &&
                static_cast<int>(CollectiveKind::kPermute) - 1 ==
                    static_cast<int>(cost::Collective::kPermute));
  const cost::Roofline roofline(model.hardware().device, model.mesh().num_ranks());
  return {[&model](CollectiveKind kind, uint32_t mask, int64_t bytes) {
            return model.us_combined(static_cast<cost::Collective>(static_cast<int>(kind) - 1),
                                     mask, bytes);
          },
          [roofline](int64_t bytes) { return roofline.copy_us(static_cast<double>(bytes)); },
          symmetries(model)};
}

}  // namespace shw
