#include "runtime/collective/members.h"

namespace shw::runtime {

Result<std::vector<int64_t>> group_ranks(const Mesh& mesh, std::span<const uint8_t> axes,
                                         int64_t rank) {
  if (!mesh.are_distinct(axes))
    return invalid_argument("the axes of a group are distinct dims of the mesh " +
                            mesh.to_string() + ", or parts of them");
  std::vector<int64_t> ranks{rank};
  for (uint8_t axis : axes) {
    const int64_t step = mesh.stride(axis), first = -mesh.coordinate(rank, axis) * step;
    std::vector<int64_t> more;
    for (int64_t r : ranks)
      for (int64_t i = 0; i < mesh.size(axis); ++i) more.push_back(r + first + i * step);
    ranks = std::move(more);
  }
  return ranks;
}

PermutePeers permute_peers(const Mesh& mesh, std::span<const uint8_t> axes,
                           std::span<const uint8_t> to_axes, int64_t rank) {
  // Converts a rank's number in one order of the axes to its number in another.
  const auto renumbered = [&](std::span<const uint8_t> from, int64_t number,
                              std::span<const uint8_t> to) {
    int64_t at[kFirstMeshPart + kMaxMeshParts] = {}, result = 0;
    for (size_t i = from.size(); i-- > 0; number /= mesh.size(from[i]))
      at[from[i]] = number % mesh.size(from[i]);
    for (uint8_t a : to) result = result * mesh.size(a) + at[a];
    return result;
  };
  int64_t own = 0;
  for (uint8_t a : axes) own = own * mesh.size(a) + mesh.coordinate(rank, a);
  return {renumbered(axes, own, to_axes), renumbered(to_axes, own, axes)};
}

}  // namespace shw::runtime
