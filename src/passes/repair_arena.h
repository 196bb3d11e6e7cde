// Places anew what does not fit into an arena, and what lies near it in time. The rest stays: what
// is right for one layer need not be found again for all.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

// `wrong`: the lifetimes whose offsets do not hold; those of all others do, in an arena of `bytes`.
// Looks for offsets of what lies within some steps around each of them (in_order.h), then within
// more steps. `live`: live_bytes() of `lives`. Compares at most some `max_tests` lifetimes, and
// takes them off. Changes offsets where it finds some; true: all hold.
Result<bool> repair_arena(std::span<const Life> lives, const std::vector<int64_t>& live,
                          int64_t bytes, std::vector<uint32_t> wrong, std::vector<int64_t>& offsets,
                          int64_t& max_tests, Monitor& monitor);

}  // namespace shw
