// A value of the model during import: a node of the graph, known elements, or both.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/onnx/tensor.h"

namespace shw::import::onnx {

// Integers that are known at import, possibly with symbols; models compute them from shapes.
struct Sizes {
  Dims shape = {};
  Dtype dtype = Dtype::kI64;
  Exprs items = {};  // row-major
};

struct Value {
  std::string name = {};
  NodeId node = {};                 // invalid: not in the graph yet
  std::optional<Known> known = {};  // its elements
  std::optional<Sizes> sizes = {};  // its elements, if they contain symbols
  bool is_graph_input = false;
};

// The integers of the value, if they are known; nullopt: not known, or too many for a shape
// computation.
std::optional<Sizes> sizes_of(const Value& value);
// The value has `known` elements if there are no symbols in them.
Value value_of_sizes(std::string name, Sizes sizes);

}  // namespace shw::import::onnx
