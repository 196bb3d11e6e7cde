// The part of a prepared model that does not depend on the mesh: the graph, read, verified and
// rewritten. Models of several meshes share it.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "compiler/options.h"
#include "compiler/stopwatch.h"
#include "graph/graph.h"
#include "redistribution/lowered_memory.h"

namespace shw {

struct RewrittenGraph {
  Graph graph;  // its nodes are the decisions
  LoweredMemory memory;
  std::vector<uint8_t> source;  // the graph as it was given, if the plan is to store it
  uint64_t source_fingerprint = 0;
  std::vector<PhaseTime> phases;  // of read()

  // With the entries and buckets that the options ask for. INVALID_ARGUMENT and UNIMPLEMENTED: the
  // bytes are no graph that can be planned.
  static Result<std::shared_ptr<const RewrittenGraph>> read(std::span<const uint8_t> bytes,
                                                            const CompileOptions& options,
                                                            Monitor& monitor);
};

}  // namespace shw
