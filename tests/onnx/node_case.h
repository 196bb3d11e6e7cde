// One of ONNX's own tests: a model, and data sets of inputs with their correct outputs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "import/safetensors.h"

namespace shw::testing {

struct NodeCase {
  std::string name;
  std::vector<std::string> ops;  // the distinct ops of its nodes
  std::vector<uint8_t> model;
  std::vector<std::string> inputs, outputs;  // names of the graph's inputs and outputs
  struct Data {
    import::TensorFile inputs, outputs;  // values by those names
  };
  std::vector<Data> data;
};

// UNIMPLEMENTED: a tensor has a type that we do not support, or a value is no tensor.
Result<NodeCase> read_node_case(const std::filesystem::path& folder);

}  // namespace shw::testing
