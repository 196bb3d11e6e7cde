// libshardwise_onnx.so: onnx_plugin.h on top of protobuf.
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "graph/writer.h"
#include "import/onnx/model.h"
#include "import/onnx_plugin.h"
#include "import/safetensors.h"

namespace {

using namespace shw;

std::span<const uint8_t> span_of(const void* data, size_t size) {
  return {static_cast<const uint8_t*>(data), size};
}

Status import_to(const shw_onnx_request& request, const shw_onnx_sink& sink) {
  import::onnx::Options options;
  options.sizes = {request.sizes, request.sizes_size};
  if (request.constants_size > 0) {
    SHW_ASSIGN_OR_RETURN(options.constants, import::parse_safetensors(span_of(
                                                request.constants, request.constants_size)));
  }
  SHW_ASSIGN_OR_RETURN(
      const import::onnx::ImportedModel model,
      import::onnx::import_model(span_of(request.model, request.model_size), options));
  const std::vector<uint8_t> graph = write_graph(model.graph);
  const std::vector<uint8_t> values = import::safetensors_bytes(model.parameters);
  if (sink.take(sink.user, graph.data(), graph.size(), values.data(), values.size()) != 0)
    return Status(Code::kResourceExhausted, "out of memory");
  return {};
}

// Converts exceptions to errors, because none may cross the boundary of the plug-in.
int import_model(const shw_onnx_request* request, const shw_onnx_sink* sink) noexcept {
  const auto refuse = [&](Code code, const char* message, int64_t node, const char* name) {
    sink->refuse(sink->user, static_cast<int32_t>(code), message, node, name);
    return 1;
  };
  try {
    const Status status = import_to(*request, *sink);
    if (status.ok()) return 0;
    return refuse(status.code(), status.message().c_str(), status.node_index(),
                  status.node_name().c_str());
  } catch (const std::bad_alloc&) {
    return refuse(Code::kResourceExhausted, "out of memory", -1, "");
  } catch (const std::exception& e) {
    return refuse(Code::kInternal, e.what(), -1, "");
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const shw_onnx_plugin shw_onnx_plugin_table = {
    SHW_ONNX_PLUGIN_VERSION, sizeof(shw_onnx_plugin), import_model};
