// Converts a graph from a foreign format to the bytes of this library's format (schemas/graph.fbs).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/text_limit.h"
#include "support/status.h"

namespace shw::import {

enum class GraphFormat : uint8_t {
  kFxJson = 1,  // fx_json.h; plain or gzipped
  kText = 2,    // graph/text.h
};

struct ImportedGraph {
  Graph graph;
  std::vector<uint8_t> bytes;  // in the format of load_graph()
};

// `what`: what the bytes are, for messages. RESOURCE_EXHAUSTED: more than `max_text_bytes` of text
// after inflation. Other errors as import_fx_json(), parse_json_bytes() and
// load_graph() report them.
Result<ImportedGraph> import_graph(GraphFormat format, std::span<const uint8_t> bytes,
                                   const std::string& what,
                                   uint64_t max_text_bytes = kDefaultMaxTextBytes);

// Counts of a graph's parts.
struct GraphSummary {
  size_t nodes = 0, parameters = 0, buffers = 0, tangents = 0;
  size_t inputs = 0;  // all others
  size_t gradients = 0;
  size_t results = 0;  // all other outputs
  int64_t parameter_bytes = 0;
};
GraphSummary summary_of(const Graph& graph);

}  // namespace shw::import
