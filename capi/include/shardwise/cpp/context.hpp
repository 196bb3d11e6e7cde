// Context, Cancel, Blob; graphs of other programs.
#ifndef SHARDWISE_CPP_CONTEXT_HPP_
#define SHARDWISE_CPP_CONTEXT_HPP_

#include <cstdint>
#include <string_view>

#include "shardwise/cpp/handle.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

// Bytes that the library made: a graph, a plan, a document.
class Blob : public Handle<shw_blob, shw_blob_destroy> {
 public:
  using Handle::Handle;
  const std::uint8_t* data() const noexcept {
    return static_cast<const std::uint8_t*>(shw_blob_data(get()));
  }
  std::size_t size() const noexcept { return shw_blob_size(get()); }
  std::string_view text() const noexcept {
    return {static_cast<const char*>(shw_blob_data(get())), size()};
  }
};

// Bytes for a call.
inline shw_bytes bytes(Span<const std::uint8_t> span) noexcept {
  return {span.data(), span.size()};
}
inline shw_bytes bytes(std::string_view text) noexcept { return {text.data(), text.size()}; }

struct ContextOptions : shw_context_options {
  ContextOptions() noexcept : shw_context_options(detail::defaults(shw_context_options_init)) {}
};

// What everything else is made in. Objects that are made in it stay valid without it.
class Context : public Handle<shw_context, shw_context_destroy> {
 public:
  using Handle::Handle;
  // What the options point to must stay valid until the last object made in the context is gone.
  static Returned<Context> create(const shw_context_options* options = nullptr) {
    return detail::make<Context>(
        [&](shw_context** out) { return shw_context_create(SHW_API_VERSION, options, out); });
  }
};

// A flag that any thread may raise, for good.
class Cancel : public Handle<shw_cancel, shw_cancel_destroy> {
 public:
  using Handle::Handle;
  static Returned<Cancel> create() { return detail::make<Cancel>(shw_cancel_create); }
  void raise() noexcept { shw_cancel_raise(get()); }
};

// Converts a graph of another format to bytes of graph.fbs, and verifies it.
inline Returned<Blob> import_graph(const Context& context, shw_graph_format format,
                                   shw_bytes graph) {
  return detail::make<Blob>(
      [&](shw_blob** out) { return shw_graph_import(context.get(), format, graph, out); });
}

// What an ONNX model becomes: bytes of graph.fbs, and the values of its parameters as
// safetensors.
struct OnnxModel {
  Blob graph, values;
};

inline Returned<OnnxModel> import_onnx(const Context& context, shw_bytes model,
                                       const shw_onnx_options* options = nullptr) {
  shw_blob *graph = nullptr, *values = nullptr;
  shw_status* status = shw_graph_import_onnx(context.get(), model, options, &graph, &values);
  return detail::give(status, OnnxModel{Blob(graph), Blob(values)});
}

inline Returned<shw_graph_summary> graph_summary(shw_bytes graph) {
  return detail::fill<shw_graph_summary>(shw_graph_summary_init, [&](shw_graph_summary* out) {
    return shw_graph_get_summary(graph, out);
  });
}

inline Returned<Blob> graph_to_text(const Context& context, shw_bytes graph) {
  return detail::make<Blob>(
      [&](shw_blob** out) { return shw_graph_to_text(context.get(), graph, out); });
}

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_CONTEXT_HPP_
