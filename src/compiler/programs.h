// The program of a placement.
#pragma once
#include <limits>

#include "compiler/prepared_model.h"
#include "lowering/slots.h"
#include "passes/pass.h"
#include "plan/program.h"

namespace shw {

// The order in which ways to hold copies are tried under a memory limit; the first that fits wins.
// kFastest: the ways that share the most come first. kAnyThatFits: the way that mostly needs the
// least memory comes first, for callers that only ask whether a program fits. The same placements
// fit in either order.
enum class Wanted : uint8_t { kFastest, kAnyThatFits };

// The program before any pass, not verified. `found`: see LowerOptions; null: not asked for.
Result<Program> lowered_program(const PreparedModel& model, const Placed& placed, Copies copies,
                                Monitor& monitor, SharedVersions* found = nullptr);

struct ProgramOptions {
  Verify verify = Verify::kNow;
  Wanted wanted = Wanted::kFastest;
  double beat_us = std::numeric_limits<double>::infinity();  // see WithinOptions
  double* seconds_of_passes = nullptr;  // null: not asked for; else they are added to it
};

// Lowers and schedules a placement with final shard orders. Under its memory limit, copies live
// longer than planned only if memory permits.
Result<Program> program_of(const PreparedModel& model, const Placed& placed, Monitor& monitor,
                           const ProgramOptions& options = {});
// The program that the planner has already built to check a limit; else program_of().
Result<Program> final_program(const PreparedModel& model, const Placed& placed, Monitor& monitor,
                              const ProgramOptions& options = {});
// INTERNAL: the planner made an invalid program.
Status verify_finished(const Program& program);
// Whether the choice of what is computed again depends on the limit (recompute auto). If so, the
// memory of the program is compared with the limit, not the planned memory. 0: no limit.
bool recomputes_within(const PreparedModel& model, double limit_bytes);
// Bytes per rank: ports, optimizer state that is not in the graph, the arena and one session.
int64_t bytes_of(const PreparedModel& model, const Program& program);

}  // namespace shw
