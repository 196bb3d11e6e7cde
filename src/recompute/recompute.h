// Frees memory between the forward and the backward pass of a program: what the backward pass reads
// is kept, or computed again in front of its first reader. See README.md.
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "plan/program.h"
#include "recompute/joint.h"
#include "recompute/policy.h"
#include "support/monitor.h"

namespace shw {

// Changes each pair of halves(). The program must have no streams and events yet; steps that no
// longer have readers stay for the pass dead-steps. `graph` is the one that the program was lowered
// from. Without a memory limit, auto repeats nothing.
Status recompute(Program& program, const Graph& graph, const RecomputePolicy& policy,
                 Monitor& monitor);

// What is computed again for one backward half.
struct Repeated {
  const Joint* joint = nullptr;
  std::vector<uint8_t> again;  // by storage
};

// The forward and backward halves in a program: in one entry, or in two where the second reads what
// the first has left in the session. UNIMPLEMENTED: a backward half reads what several entries
// left.
Result<std::vector<Joint>> halves(const Program& program);
// Writes the steps of the program anew. It is the one that the halves are of, or a copy of it.
void repeat(Program& program, std::span<const Repeated> halves);

}  // namespace shw
