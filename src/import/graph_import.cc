#include "import/graph_import.h"

#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_bytes.h"
#include "rewrite/verify.h"

namespace shw::import {
namespace {

Result<Graph> parse(GraphFormat format, std::span<const uint8_t> bytes, const std::string& what,
                    uint64_t max_text_bytes) {
  if (format == GraphFormat::kText) {
    SHW_RETURN_IF_ERROR(check_text_size(what, bytes.size(), max_text_bytes));
    return parse_graph({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  SHW_ASSIGN_OR_RETURN(const JsonTree file, parse_json_bytes(bytes, what, max_text_bytes));
  return import_fx_json(file.root);
}

}  // namespace

Result<ImportedGraph> import_graph(GraphFormat format, std::span<const uint8_t> bytes,
                                   const std::string& what, uint64_t max_text_bytes) {
  SHW_ASSIGN_OR_RETURN(Graph graph, parse(format, bytes, what, max_text_bytes));
  // The limits of the format and the verifier apply here, so that others can load the written
  // graph.
  std::vector<uint8_t> written = write_graph(graph);
  SHW_RETURN_IF_ERROR(load_graph(written).status());
  return ImportedGraph{std::move(graph), std::move(written)};
}

GraphSummary summary_of(const Graph& graph) {
  GraphSummary s;
  s.nodes = graph.num_nodes();
  for (const InputInfo& in : graph.inputs()) {
    if (in.role == InputRole::kParameter) s.parameter_bytes += graph.type(in.node).bytes();
    ++(in.role == InputRole::kParameter ? s.parameters
       : in.role == InputRole::kBuffer  ? s.buffers
       : in.role == InputRole::kTangent ? s.tangents
                                        : s.inputs);
  }
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) ++(out.role == OutputRole::kGradient ? s.gradients : s.results);
  return s;
}

}  // namespace shw::import
