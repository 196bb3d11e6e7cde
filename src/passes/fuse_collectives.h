// Fuses collectives of one communicator into one on a packed buffer. Each collective pays the
// latency of the network, which dominates the time of small ones.
//
//   c = dtype_cast(w); g = all_gather(c); …  d = dtype_cast(v); h = all_gather(d)
//     =>  dtype_cast(w), dtype_cast(v) write into the parts of p; q = all_gather(p);
//         g = clone(q's first part of each rank); …  h = clone(q's second part of each rank)
//
// What is fused:
//   - all-gathers of parameters, at the place of the first of them. The copy that makes an operand,
//     such as a cast, writes into the packed buffer. If all readers of a result are copies that can
//     read a part of the buffer, nothing unpacks it.
//   - all-reduces of results that only outputs depend on, such as gradients, at the place of the
//     last of them. The steps that make the operands write into the packed buffer, and readers read
//     it.
//   - reduce-scatters of the same kind of results. One `cat` packs the operands, rank by rank;
//     readers read the buffer.
// Fused collectives agree in entry, group, reduction, type on the wire, and pass (forward or
// backward). Each element is sent and reduced as before, so results are bitwise equal.
#pragma once
#include <functional>

#include "plan/program.h"

namespace shw {

struct FuseLimits {
  int64_t bytes = 0;          // size of a packed buffer; for a gather, of all ranks together
  int64_t scatter_bytes = 0;  // likewise, for reduce-scatters
  uint32_t steps = 0;         // steps of the program between the first and the last collective
};

struct FusePrices {
  // µs of one collective in the group of these mesh dims; bytes as MovePrices::collective_us.
  std::function<double(CollectiveKind, uint32_t axes_mask, int64_t bytes)> collective_us;
  std::function<double(int64_t bytes)> copy_us;  // within one rank
};

// Fuses neighbours in the order of the program if this saves more communication time than the
// copies cost. The program must have one stream and no memory plan. Returns by how many the number
// of collectives fell.
uint32_t fuse_collectives(Program& program, const FuseLimits& limits, const FusePrices& prices);

}  // namespace shw
