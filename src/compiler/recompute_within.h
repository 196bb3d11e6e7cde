// The fastest program that keeps within a memory limit, by the choice of what it computes again.
#pragma once
#include <limits>

#include "graph/graph.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// `program`: lowered from `graph`, without streams, with equal steps merged. The result is
// scheduled and planned, and holds at most `limit_bytes` in arena and session; where no choice
// does, it is the one that holds the least. Choices are those of recompute/frontier.h and of the
// named policies, each with collectives that start early and late.
//
// The choices do not depend on the limit, and the one with the shortest simulated step wins of all
// that fit: a higher limit never gives a longer step. Of many choices, evenly spaced ones are
// looked at; those that a lower bound rules out are not built. If no choice takes less than
// `beat_us`, the result is any of them, and may hold more.
Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 Monitor& monitor,
                                 double beat_us = std::numeric_limits<double>::infinity());

}  // namespace shw
