// Frees memory between the forward and the backward pass of a program: what the backward pass reads
// is kept, or computed again in front of its first reader. See README.md.
#pragma once
#include "graph/graph.h"
#include "plan/program.h"
#include "recompute/policy.h"
#include "support/monitor.h"

namespace shw {

// Changes each entry that has both halves. The program must have no streams and events yet; steps
// that no longer have readers stay for the pass dead-steps. `graph` is the one that the program was
// lowered from. UNIMPLEMENTED: halves in entries of their own.
Status recompute(Program& program, const Graph& graph, const RecomputePolicy& policy,
                 Monitor& monitor);

}  // namespace shw
