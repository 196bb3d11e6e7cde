// An ONNX model, from bytes to a graph and the values of its parameters.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "import/safetensors.h"
#include "support/status.h"

namespace shw::import::onnx {

struct Options {
  // What the model's symbolic sizes are: "batch=8,sequence=1..512". A range makes a symbol, to
  // which "/8" adds a divisor and "@128" a typical value. A size without a name is called by its
  // input and dim: "x:0=8".
  std::string_view sizes = {};
  // Inputs of the model whose elements are known, by their names: they become constants.
  TensorFile constants = {};
};

struct ImportedModel {
  Graph graph;
  TensorFile parameters;  // by full name: "param.encoder.weight"
};

// INVALID_ARGUMENT: the model is malformed, or a size is not given. UNIMPLEMENTED: it has operators
// that are not known (all are listed), or something else that we cannot do. Both name the node.
Result<ImportedModel> import_model(std::span<const uint8_t> bytes, const Options& options);

}  // namespace shw::import::onnx
