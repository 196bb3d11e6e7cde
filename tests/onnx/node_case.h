// One of ONNX's own tests: a model, and data sets of inputs with the outputs that are right.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "import/safetensors.h"

namespace shw::testing {

struct NodeCase {
  std::string name;
  std::vector<std::string> ops;  // of its nodes, each once
  std::vector<uint8_t> model;
  std::vector<std::string> inputs, outputs;  // the names of the graph's
  struct Data {
    import::TensorFile inputs, outputs;  // by those names
  };
  std::vector<Data> data;
};

// UNIMPLEMENTED: tensors that we have no type for, or no tensors at all.
Result<NodeCase> read_node_case(const std::filesystem::path& folder);

}  // namespace shw::testing
