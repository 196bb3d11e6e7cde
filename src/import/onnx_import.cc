#include "import/onnx_import.h"

#include <exception>

#include "import/onnx_plugin.h"
#include "rewrite/verify.h"
#include "support/open_plugin.h"

namespace shw::import {
namespace {

// The result from the plug-in: bytes, or the reason why there are none.
struct Answer {
  std::vector<uint8_t> graph, values;
  Status status;
};

int take(void* user, const void* graph, size_t graph_size, const void* values, size_t values_size) {
  auto& answer = *static_cast<Answer*>(user);
  const auto* g = static_cast<const uint8_t*>(graph);
  const auto* v = static_cast<const uint8_t*>(values);
  try {
    answer.graph.assign(g, g + graph_size);
    answer.values.assign(v, v + values_size);
    return 0;
  } catch (const std::exception&) {  // the plug-in reports it
    return 1;
  }
}

void refuse(void* user, int32_t code, const char* message, int64_t node, const char* node_name) {
  auto& answer = *static_cast<Answer*>(user);
  try {
    const bool known = code > 0 && code <= static_cast<int32_t>(Code::kDataLoss);
    answer.status = Status(known ? static_cast<Code>(code) : Code::kInternal, message);
    if (node >= 0) answer.status.at_node(node, node_name);
  } catch (const std::exception&) {
    answer.status = Status(Code::kResourceExhausted, {});
  }
}

constexpr PluginKind kPlugin = {
    "ONNX",
    "libshardwise_onnx.so",
    SHW_ONNX_PLUGIN_SYMBOL,
    "where protobuf's development files are (Debian: libprotobuf-dev, protobuf-compiler)",
    SHW_ONNX_PLUGIN_VERSION,
    sizeof(shw_onnx_plugin)};

}  // namespace

Result<OnnxModel> import_onnx(std::span<const uint8_t> model, const OnnxOptions& options) {
  SHW_ASSIGN_OR_RETURN(const void* table, open_plugin(kPlugin, options.plugin));
  const auto* plugin = static_cast<const shw_onnx_plugin*>(table);
  const shw_onnx_request request = {model.data(),
                                    model.size(),
                                    options.sizes.data(),
                                    options.sizes.size(),
                                    options.constants.data(),
                                    options.constants.size()};
  Answer answer;
  const shw_onnx_sink sink = {&answer, take, refuse};
  if (plugin->import(&request, &sink) != 0) {
    if (answer.status.ok()) return internal_error("the ONNX plug-in failed without a reason");
    return answer.status;
  }
  SHW_ASSIGN_OR_RETURN(Graph graph, load_graph(answer.graph));
  return OnnxModel{std::move(graph), std::move(answer.graph), std::move(answer.values)};
}

}  // namespace shw::import
