// The program of a placement.
#pragma once
#include <limits>

#include "compiler/prepared_model.h"
#include "plan/program.h"

namespace shw {

// Of the ways to hold copies within a memory limit, the first that fits wins. kFastest: those come
// first that share the most. kAnyThatFits: the one that takes the least comes first, for who asks
// only whether a program fits. The same placements fit.
enum class Wanted : uint8_t { kFastest, kAnyThatFits };

// Lowers and schedules a placement with final shard orders. Under its memory limit, copies live no
// longer than planned unless memory permits. `beat_us`: of WithinOptions.
Result<Program> program_of(const PreparedModel& model, const Placed& placed, Monitor& monitor,
                           double* seconds_of_passes = nullptr,
                           double beat_us = std::numeric_limits<double>::infinity(),
                           Wanted wanted = Wanted::kFastest);
// Whether what is computed again depends on the limit (recompute auto): then a program takes what
// it takes, and not what was planned. 0: no limit.
bool recomputes_within(const PreparedModel& model, double limit_bytes);
// Per rank: ports, the optimizer state that the graph does not have, the arena and one session.
int64_t bytes_of(const PreparedModel& model, const Program& program);

}  // namespace shw
