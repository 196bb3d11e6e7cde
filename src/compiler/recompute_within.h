// The fastest program that keeps within a memory limit, by the choice of what it computes again.
#pragma once
#include "graph/graph.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// `program`: lowered from `graph`, without streams, with equal steps merged. The result is
// scheduled and planned, and holds at most `limit_bytes` in arena and session; where no choice
// does, it is the one that holds the least. Choices are those of recompute/frontier.h.
//
// A small program is built for every choice, and the one with the shortest simulated step wins. A
// large one is built for about ten choices: those between which the first one lies that fits, and
// some that repeat less and start collectives later.
Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 Monitor& monitor);

}  // namespace shw
