// From the global graph and its layouts to one rank's program with explicit collectives.
#pragma once
#include <span>

#include "graph/graph.h"
#include "lowering/slots.h"
#include "plan/program.h"
#include "redistribution/redistributor.h"
#include "strategy/assignment.h"
#include "strategy/shared_versions.h"
#include "support/monitor.h"

namespace shw {

struct LowerOptions {
  // Modelled time of each node's own work, without copies; empty: unknown, written as 0.
  std::span<const double> compute_us;
  // The strategy of each node: of manual regions, the alternative to run (strategy/alternatives.h);
  // empty: regions state just one.
  std::span<const uint32_t> choice = {};
  Copies copies = Copies::kShared;
  // What the plan has made for several uses; null: nothing.
  const SharedVersions* shared = nullptr;
  // Unless null, set to where the program goes other ways than pairs of nodes tell. Of one entry,
  // with shared copies.
  SharedVersions* found = nullptr;
  // For tests of single ops: inputs may lie partial. Their ports say "replicated" for it.
  bool allow_partial_inputs = false;
};

// Layouts are taken as they are, shard orders too (shard_order.h chooses them where the solve did
// not). One entry, "step", with all the graph's inputs and outputs; steps in the graph's order,
// all of them on the compute stream. Errors name the node. UNIMPLEMENTED: an average
// over uneven shards. INVALID_ARGUMENT: a layout that does not cut its tensor; a consumer requires
// a partial layout that its producer cannot supply.
Result<Program> lower(const Graph& graph, const Assignment& assignment,
                      Redistributor& redistributor, const LowerOptions& options, Monitor& monitor);

}  // namespace shw
