// What a rewrite is, and the list that runs before the solve. A pass reads one graph and builds the
// next; it is a function of the graph alone. One pass, one file.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

struct Rewritten {
  Graph graph;
  int64_t changes = 0;  // nodes removed, patterns replaced or aliases inserted
};

struct GraphPass {
  std::string_view name;  // also of its text test
  std::string_view summary;
  Result<Rewritten> (*run)(const Graph&);
};

extern const GraphPass kCleanUp;               // clean_up.cc
extern const GraphPass kRunTimeSeed;           // run_time_seed.cc
extern const GraphPass kViewMmToEinsum;        // view_mm_to_einsum.cc
extern const GraphPass kBiasedLinearToEinsum;  // biased_linear_to_einsum.cc
extern const GraphPass kChoicePoints;          // choice_points.cc

struct PassStats {
  std::string_view name;
  int64_t changes = 0;
  uint32_t nodes_before = 0, nodes_after = 0;
  double seconds = 0;
};

struct RewriteOptions {
  bool einsum = true;          // view_mm_to_einsum
  bool biased_einsum = false;  // biased_linear_to_einsum behind it
};

// All passes in their order, the verifier after each that changes something. INTERNAL when a pass
// made a graph that does not verify (the fault is ours, not the caller's); CANCELLED when `monitor`
// says so.
Result<Graph> run_rewrites(Graph graph, const RewriteOptions& options = {},
                           std::vector<PassStats>* stats = nullptr,
                           const Monitor* monitor = nullptr);

}  // namespace shw
