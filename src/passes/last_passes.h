// The passes that every program ends with: collectives to their streams, steps into groups,
// storages to their places.
#pragma once
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// What a group touches lives as long as all of it, so groups may take more memory than single
// steps. Where the program then takes more than `limit_bytes` of scratch, it is planned without
// groups too, and they are dropped unless they make it fit or take less: groups never make a
// program exceed its limit.
Status run_last_passes(Program& program, int64_t limit_bytes, Monitor& monitor);

}  // namespace shw
