// shw_graph: imports graphs of other programs.
#include "shardwise/graph.h"

#include "blob.h"
#include "compile_options.h"
#include "graph/text.h"
#include "import/graph_import.h"
#include "import/onnx_import.h"
#include "rewrite/verify.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kOnnxOptionsSize_0_2 = SHW_SIZE_TO(shw_onnx_options, plugin);
constexpr size_t kGraphSummarySize_0_2 = SHW_SIZE_TO(shw_graph_summary, parameter_bytes);

Result<import::GraphFormat> format_of(shw_graph_format format) {
  switch (format) {
    case SHW_GRAPH_FORMAT_FX_JSON:
      return import::GraphFormat::kFxJson;
    case SHW_GRAPH_FORMAT_TEXT:
      return import::GraphFormat::kText;
    default:
      return invalid_argument("graph format " + std::to_string(format) + " is unknown");
  }
}

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : text; }

Result<import::OnnxModel> import_onnx(shw_bytes model, const shw_onnx_options* options) {
  SHW_ASSIGN_OR_RETURN(const shw_onnx_options in, copy_in(options, kOnnxOptionsSize_0_2));
  SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(model, "model"));
  const std::string sizes = text_or_empty(in.sizes);
  import::OnnxOptions ours{.sizes = sizes, .plugin = text_or_empty(in.plugin)};
  SHW_ASSIGN_OR_RETURN(ours.constants, bytes_of(in.constants, "shw_onnx_options::constants"));
  return import::import_onnx(bytes, ours);
}

Result<Graph> graph_of(shw_bytes graph) {
  SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
  return load_graph(bytes);
}

}  // namespace
}  // namespace shw::capi

shw_status* shw_graph_import(shw_context* context, shw_graph_format format, shw_bytes bytes,
                             shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const import::GraphFormat ours, format_of(format));
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> span, bytes_of(bytes, "bytes"));
    SHW_ASSIGN_OR_RETURN(
        const import::ImportedGraph imported,
        import::import_graph(ours, span, "the graph", context->ref->max_text_bytes()));
    return make_blob(context->ref, imported.bytes);
  });
}

void shw_onnx_options_init(shw_onnx_options* options, size_t size) { init_struct(options, size); }

shw_status* shw_graph_import_onnx(shw_context* context, shw_bytes model,
                                  const shw_onnx_options* options, shw_blob** out_graph,
                                  shw_blob** out_values) {
  if (out_values != nullptr) *out_values = nullptr;
  return make_handle(out_graph, "out_graph", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(context);
    SHW_WANT(out_values);
    SHW_ASSIGN_OR_RETURN(const import::OnnxModel imported, import_onnx(model, options));
    auto graph = make_blob(context->ref, imported.bytes);
    *out_values = make_blob(context->ref, imported.values).release();
    return graph;
  });
}

void shw_graph_summary_init(shw_graph_summary* summary, size_t size) { init_struct(summary, size); }

shw_status* shw_graph_get_summary(shw_bytes graph, shw_graph_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kGraphSummarySize_0_2, [&](auto& out) -> Status {
    SHW_ASSIGN_OR_RETURN(const Graph ours, graph_of(graph));
    const import::GraphSummary s = import::summary_of(ours);
    out.num_nodes = s.nodes;
    out.num_parameters = s.parameters;
    out.num_buffers = s.buffers;
    out.num_tangents = s.tangents;
    out.num_inputs = s.inputs;
    out.num_gradients = s.gradients;
    out.num_results = s.results;
    out.parameter_bytes = s.parameter_bytes;
    return {};
  });
}

shw_status* shw_graph_to_text(shw_context* context, shw_bytes graph, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const Graph ours, graph_of(graph));
    return make_blob(context->ref, print_graph(ours));
  });
}
