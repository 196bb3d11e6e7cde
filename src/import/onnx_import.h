// Imports ONNX models as graphs. The reader is in a plug-in, libshardwise_onnx.so, which is loaded
// on demand. So this library can be built, installed and loaded without protobuf.
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
  std::span<const uint8_t> constants = {};  // safetensors: inputs that become constants
  std::string plugin = {};                  // plug-in's path; empty: search (support/open_plugin.h)
};

struct OnnxModel {
  Graph graph;
  std::vector<uint8_t> bytes;   // the graph's, in the format of load_graph()
  std::vector<uint8_t> values;  // the parameters' values, as safetensors
};

// UNAVAILABLE: the plug-in was not found; the message says what was tried and what to do. Otherwise
// as import/onnx/model.h.
Result<OnnxModel> import_onnx(std::span<const uint8_t> model, const OnnxOptions& options);

}  // namespace shw::import
