// Frees memory of what is made long before it is read: it waits in host memory.
//
//   a = exp(x); …; b = mul(a, t)
//     =>  a = exp(x); h = copy_to_host(a); …; a' = copy_from_host(h); b = mul(a', t)
//
// That is what the forward half of an entry leaves for its backward half, and what an entry leaves
// in the session for one other entry, which then finds it in host memory of the session.
//
// The link to host memory works beside compute, and here it never holds compute up: of what is
// kept, the first values are taken, which wait for longest, as long as the link can be done with
// the copies to the host by the end of the half or the entry that makes them, and with each copy
// back by its first reader. Copies back begin with the half or the entry that reads. Times are
// those of compute steps one after another. The schedule then places the copies
// (passes/entry_schedule.h).
#pragma once
#include <cstdint>
#include <functional>

#include "plan/program.h"

namespace shw {

struct HostLink {
  std::function<double(int64_t bytes)> copy_us{};  // in one direction; none: there is no link
  // Of host memory, of one rank: of a run and of one session together.
  int64_t limit_bytes = 0;
};

// The program must have no streams and events yet, and no steps that nobody needs. Returns how many
// bytes wait in host memory.
int64_t offload(Program& program, const HostLink& link);

}  // namespace shw
