// Lowers the global graph and its layouts to one rank's program with explicit collectives.
#pragma once
#include <span>

#include "graph/graph.h"
#include "lowering/slots.h"
#include "plan/program.h"
#include "redistribution/lowered_memory.h"
#include "redistribution/redistributor.h"
#include "strategy/assignment.h"
#include "strategy/shared_versions.h"
#include "support/monitor.h"

namespace shw {

struct LowerOptions {
  // Modelled time of each node's own work, without copies; empty: unknown, written as 0.
  std::span<const double> compute_us;
  // The strategy of each node. For manual regions, it determines the alternative to run
  // (strategy/alternatives.h). Empty: regions state only one alternative.
  std::span<const uint32_t> choice = {};
  Copies copies = Copies::kShared;
  // lowered_memory(graph), for callers that lower a graph several times; null: lower() derives it.
  const LoweredMemory* memory = nullptr;
  // The versions that the plan makes for several uses; null: none.
  const SharedVersions* shared = nullptr;
  // Unless null, set to the versions that the program shares between uses, which pairwise prices do
  // not reflect. Only for one entry with shared copies.
  SharedVersions* found = nullptr;
  // False: the caller runs passes on the program, which verify it.
  bool verify = true;
  // For tests of single ops: inputs may be partial. Their ports then say "replicated".
  bool allow_partial_inputs = false;
};

// Uses the layouts as they are, including shard orders; if the solve did not choose these, call
// choose_shard_orders() first (shard_order.h). A graph without declared entries gives one entry,
// "step", with all inputs and outputs. Steps are in the graph's order, all on the compute stream.
// Errors name the node. UNIMPLEMENTED: an average over uneven shards. INVALID_ARGUMENT: a layout
// that does not cut its tensor; a consumer requires a partial layout that its producer cannot
// supply.
Result<Program> lower(const Graph& graph, const Assignment& assignment,
                      Redistributor& redistributor, const LowerOptions& options, Monitor& monitor);

}  // namespace shw
