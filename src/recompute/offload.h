// Frees device memory by keeping in host memory what is computed long before it is read.
//
//   a = exp(x); …; b = mul(a, t)
//     =>  a = exp(x); h = copy_to_host(a); …; a' = copy_from_host(h); b = mul(a', t)
//
// This applies to what the forward half of an entry leaves for its backward half, and to what an
// entry leaves in the session for exactly one other entry, which then reads it from the session's
// host memory.
//
// The link to host memory works in parallel with compute, and offloading must not delay compute. Of
// the kept values the earliest are offloaded, since they wait the longest, as long as two
// conditions hold: the link finishes the copies to the host by the end of the half or entry that
// makes the values, and each copy back before its first reader. Copies back begin with the half or
// entry that reads. The times assume that compute steps run one after another. The schedule then
// places the copies (passes/entry_schedule.h).
#pragma once
#include <cstdint>
#include <functional>

#include "plan/program.h"

namespace shw {

struct HostLink {
  std::function<double(int64_t bytes)> copy_us{};  // in one direction; empty: there is no link
  // Limit on one rank's host memory, for one run and one session together.
  int64_t limit_bytes = 0;
};

// The program must have no streams or events yet, and no dead steps. Returns the number of bytes
// that are moved to host memory.
int64_t offload(Program& program, const HostLink& link);

}  // namespace shw
