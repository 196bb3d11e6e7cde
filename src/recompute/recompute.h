// Frees memory between the forward and the backward pass of a program: what the backward pass reads
// is either kept or computed again in front of its first reader. See README.md.
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "plan/program.h"
#include "recompute/joint.h"
#include "recompute/policy.h"
#include "support/monitor.h"

namespace shw {

// Applies the policy to each pair of halves(). The program must have no streams or events yet.
// Steps that lose their last reader stay; the pass dead-steps removes them. `graph` is the one that
// the program was lowered from. Without a memory limit, auto repeats nothing.
Status recompute(Program& program, const Graph& graph, const RecomputePolicy& policy,
                 Monitor& monitor);

// The storages that one backward half computes again.
struct Repeated {
  const Joint* joint = nullptr;
  std::vector<uint8_t> again;  // by storage
};

// The pairs of a forward and a backward half in a program. A pair lies in one entry, or in two of
// which the second reads what the first has left in the session. UNIMPLEMENTED: a backward half
// reads what several entries left.
Result<std::vector<Joint>> halves(const Program& program);
// Rewrites the steps of the program, which is the one that the halves refer to, or a copy of it.
void repeat(Program& program, std::span<const Repeated> halves);

}  // namespace shw
