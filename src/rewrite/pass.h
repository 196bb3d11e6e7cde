// Graph passes, and the list of passes that runs before the solve. A pass reads one graph and
// builds the next; it depends on nothing but that graph. Each pass has its own file.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

struct Rewritten {
  Graph graph;          // meaningless if `changes` is 0: the old graph stays
  int64_t changes = 0;  // nodes removed, patterns replaced or aliases inserted
};

struct GraphPass {
  std::string_view name;  // also names its text test
  std::string_view summary;
  Result<Rewritten> (*run)(const Graph&);
};

extern const GraphPass kCleanUp;               // clean_up.cc
extern const GraphPass kRunTimeSeed;           // run_time_seed.cc
extern const GraphPass kViewMmToEinsum;        // view_mm_to_einsum.cc
extern const GraphPass kBiasedLinearToEinsum;  // biased_linear_to_einsum.cc
extern const GraphPass kEqualNodes;            // equal_nodes.cc
extern const GraphPass kChoicePoints;          // choice_points.cc

struct PassStats {
  std::string_view name;
  int64_t changes = 0;
  uint32_t nodes_before = 0, nodes_after = 0;
  double seconds = 0;
};

struct RewriteOptions {
  bool einsum = true;          // view_mm_to_einsum
  bool biased_einsum = false;  // biased_linear_to_einsum, after it
  bool merge_equal = false;    // equal_nodes
};

// Runs all passes in order, and verifies the graph after the last if one changed something.
// INTERNAL: they produced an invalid graph (a bug of ours, not the caller's). CANCELLED:
// requested through `monitor`.
Result<Graph> run_rewrites(Graph graph, const RewriteOptions& options = {},
                           std::vector<PassStats>* stats = nullptr,
                           const Monitor* monitor = nullptr);

}  // namespace shw
