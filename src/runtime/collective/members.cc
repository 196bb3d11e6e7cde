#include "runtime/collective/members.h"

#include <algorithm>
#include <array>

namespace shw::runtime {

Result<std::vector<int64_t>> group_ranks(const Mesh& mesh, std::span<const uint8_t> axes,
                                         int64_t rank) {
  std::vector<int64_t> ranks{rank};
  for (uint8_t axis : axes) {
    if (axis >= mesh.rank() || std::count(axes.begin(), axes.end(), axis) != 1)
      return invalid_argument("the axes of a group are distinct dims of the mesh " +
                              mesh.to_string());
    int64_t step = 1;  // between neighbours along `axis`
    for (int d = axis + 1; d < mesh.rank(); ++d) step *= mesh.size(d);
    const int64_t first = -mesh.coordinate(rank, axis) * step;
    std::vector<int64_t> more;
    for (int64_t r : ranks)
      for (int64_t i = 0; i < mesh.size(axis); ++i) more.push_back(r + first + i * step);
    ranks = std::move(more);
  }
  return ranks;
}

PermutePeers permute_peers(const Mesh& mesh, std::span<const uint8_t> axes,
                           std::span<const uint8_t> to_axes, int64_t rank) {
  std::array<int64_t, kMaxMeshRank> at{}, target{};
  for (uint8_t a : axes) at[a] = mesh.coordinate(rank, a);
  const auto number = [&](std::span<const uint8_t> order, const auto& coordinates) {
    int64_t n = 0;
    for (uint8_t a : order) n = n * mesh.size(a) + coordinates[a];
    return n;
  };
  int64_t left = number(axes, at);  // the number of the target in the order of `to_axes`
  for (size_t i = to_axes.size(); i-- > 0;) {
    const int64_t size = mesh.size(to_axes[i]);
    target[to_axes[i]] = left % size;
    left /= size;
  }
  return {number(to_axes, at), number(axes, target)};
}

}  // namespace shw::runtime
