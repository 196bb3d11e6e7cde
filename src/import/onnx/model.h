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
  // The values of the model's symbolic sizes: "batch=8,sequence=1..512". A range makes a symbol;
  // "/8" adds a divisor and "@128" a typical value. An unnamed size is identified by its input and
  // dim: "x:0=8".
  std::string_view sizes = {};
  // Inputs of the model whose elements are known, by name; they become constants.
  TensorFile constants = {};
};

struct ImportedModel {
  Graph graph;
  TensorFile parameters;  // by full name: "param.encoder.weight"
};

// INVALID_ARGUMENT: the model is malformed, or a size is missing. UNIMPLEMENTED: it has unknown
// operators (all are listed), or another feature that is not supported. Both name the node.
Result<ImportedModel> import_model(std::span<const uint8_t> bytes, const Options& options);

}  // namespace shw::import::onnx
