// Fuses collectives (fuse_collectives.h) if that shortens the simulated schedule.
#pragma once
#include "passes/fuse_collectives.h"
#include "passes/pass_options.h"
#include "support/monitor.h"

namespace shw {

// Schedules the program as schedule-collectives does, with collectives fused into buffers of at
// most `bytes` or not fused, whichever has the shorter simulated time. A program with fused
// collectives must stay within its scratch limit, and needs at most a twentieth more scratch than
// without fusion. The program must have one stream and no memory plan. Returns by how many the
// number of collectives fell.
Result<uint32_t> schedule_fused(Program& program, int64_t bytes, const FusePrices& prices,
                                const PassOptions& options, Monitor& monitor);

}  // namespace shw
