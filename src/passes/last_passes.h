// The last passes for every program: they assign collectives to streams, steps to groups, and
// storages to offsets. None of these functions verifies the program.
#pragma once
#include "passes/pass_options.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// A storage that a group touches is live while any step of the group runs, so groups may need more
// memory than single steps. If the program with groups needs more than `limit_bytes` of scratch, it
// is also planned without, and the groups are dropped unless only they fit or need less memory. So
// groups never make a program exceed its limit.
enum class Packing : uint8_t {
  kTight,   // as small as possible
  kEnough,  // within the limit: for trial programs; pack_tightly() follows for the chosen one
};
// `options`: its packing targets are ignored; they follow from the limit.
Status run_last_passes(Program& program, int64_t limit_bytes, Packing packing, PassOptions options,
                       Monitor& monitor);

Status pack_tightly(Program& program, PassOptions options, Monitor& monitor);
// For the final program: packs the arena again with more effort, if its size is not near the live
// bytes of the fullest step and time remains.
Status pack_for_long(Program& program, Monitor& monitor);

}  // namespace shw
