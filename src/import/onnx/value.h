// A value of the model during import: in the graph, known already, or both.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/onnx/tensor.h"

namespace shw::import::onnx {

// Integers that are known at import, apart from symbols: what models compute from shapes.
struct Sizes {
  Dims shape = {};
  Dtype dtype = Dtype::kI64;
  Exprs items = {};  // row-major
};

struct Value {
  std::string name = {};
  NodeId node = {};                 // invalid: not in the graph, so far
  std::optional<Known> known = {};  // its elements
  std::optional<Sizes> sizes = {};  // its elements, where they hold symbols
  bool is_graph_input = false;
};

// The integers that the value is known to hold; nullopt: others, or more than anybody computes
// shapes with.
std::optional<Sizes> sizes_of(const Value& value);
// Known, if there are no symbols among them.
Value value_of_sizes(std::string name, Sizes sizes);

}  // namespace shw::import::onnx
