// The passes that every program ends with: collectives to their streams, steps into groups,
// storages to their places.
#pragma once
#include "passes/pass_options.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// What a group touches lives as long as all of it, so groups may take more memory than single
// steps. Where the program then takes more than `limit_bytes` of scratch, it is planned without
// groups too, and they are dropped unless they make it fit or take less: groups never make a
// program exceed its limit.
enum class Packing : uint8_t {
  kTight,   // as small as can be
  kEnough,  // within the limit, for a program that is only tried: pack_tightly() follows for one
};
// `options`: but for what packing aims at, which follows from the limit.
Status run_last_passes(Program& program, int64_t limit_bytes, Packing packing, PassOptions options,
                       Monitor& monitor);

Status pack_tightly(Program& program, PassOptions options, Monitor& monitor);
// Of a program that is the answer: packs its arena once more, for longer, if that is not near what
// lives at the fullest step, and there is time.
Status pack_for_long(Program& program, Monitor& monitor);

}  // namespace shw
