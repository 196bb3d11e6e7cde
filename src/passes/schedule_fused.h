// Fuses collectives (fuse_collectives.h) where the simulator says that the schedule becomes
// shorter.
#pragma once
#include "passes/fuse_collectives.h"
#include "passes/pass_options.h"
#include "support/monitor.h"

namespace shw {

// Schedules the program as schedule-collectives does, with collectives fused into buffers of at
// most `bytes` or not at all, whatever takes the least simulated time. Where collectives are fused,
// the program holds no more scratch than its limit, and at most a twentieth more than without. The
// program must have one stream and no memory plan. Returns how many collectives are gone.
Result<uint32_t> schedule_fused(Program& program, int64_t bytes, const FusePrices& prices,
                                const PassOptions& options, Monitor& monitor);

}  // namespace shw
