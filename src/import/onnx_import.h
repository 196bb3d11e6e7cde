// ONNX models as graphs. What reads them is in a plug-in, libshardwise_onnx.so, that is opened when
// somebody asks for it: this library needs no protobuf to be built, installed or loaded.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw::import {

struct OnnxOptions {
  std::string_view sizes = {};              // import/onnx/model.h
  std::span<const uint8_t> constants = {};  // safetensors: inputs whose elements are known
  std::string plugin = {};                  // its path; empty: found as support/open_plugin.h says
};

struct OnnxModel {
  Graph graph;
  std::vector<uint8_t> bytes;   // of the graph, that load_graph() accepts
  std::vector<uint8_t> values;  // of its parameters: safetensors
};

// UNAVAILABLE: there is no plug-in; the message says what was tried and what to do. Otherwise as
// import/onnx/model.h.
Result<OnnxModel> import_onnx(std::span<const uint8_t> model, const OnnxOptions& options);

}  // namespace shw::import
