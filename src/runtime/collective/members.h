// The members of a group (plan/program.h: Collective).
#pragma once
#include <span>
#include <vector>

#include "sharding/layout.h"
#include "support/status.h"

namespace shw::runtime {

// The ranks of the group that contains `rank`, by member number. `axes` are mesh dims or parts of
// mesh dims. INVALID_ARGUMENT: an axis is neither, or two axes overlap.
Result<std::vector<int64_t>> group_ranks(const Mesh& mesh, std::span<const uint8_t> axes,
                                         int64_t rank);

// The members that a member of a permute receives from and sends to, as numbers in the order of
// `axes`.
struct PermutePeers {
  int64_t source, target;
};
// `to_axes` is a permutation of `axes`, which do not overlap (plan/verify.cc).
PermutePeers permute_peers(const Mesh& mesh, std::span<const uint8_t> axes,
                           std::span<const uint8_t> to_axes, int64_t rank);

}  // namespace shw::runtime
