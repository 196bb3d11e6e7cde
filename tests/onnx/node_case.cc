#include "node_case.h"

#include <algorithm>
#include <set>

#include "import/file.h"
#include "import/onnx/tensor.h"

namespace shw::testing {
namespace {

using import::StoredTensor;
using shardwise::onnx::ModelProto;
using shardwise::onnx::TensorProto;

Result<StoredTensor> read_tensor(const std::string& path, bool is_tensor) {
  if (!is_tensor) return unimplemented("sequences and optional values");
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(path));
  TensorProto tensor;
  if (!tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument(path + " is no tensor");
  SHW_ASSIGN_OR_RETURN(const import::onnx::Known known, import::onnx::known_of(tensor));
  return StoredTensor{known.type, *known.bytes};
}

// The files PREFIX_0.pb, PREFIX_1.pb, … contain the values in order.
template <class Infos>
Status read_tensors(const std::filesystem::path& folder, const char* prefix, const Infos& infos,
                    import::TensorFile& to) {
  for (int i = 0; i < infos.size(); ++i) {
    const auto path = folder / (std::string(prefix) + "_" + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(path)) return {};  // an initializer has no file
    SHW_ASSIGN_OR_RETURN(StoredTensor t, read_tensor(path, infos[i].type().has_tensor_type()));
    to.emplace(infos[i].name(), std::move(t));
  }
  return {};
}

}  // namespace

Result<NodeCase> read_node_case(const std::filesystem::path& folder) {
  NodeCase c;
  c.name = folder.filename();
  SHW_ASSIGN_OR_RETURN(c.model, import::read_file(folder / "model.onnx"));
  ModelProto model;
  if (!model.ParseFromArray(c.model.data(), static_cast<int>(c.model.size())))
    return invalid_argument("model.onnx is no model");
  std::set<std::string> ops;
  for (const auto& node : model.graph().node()) ops.insert(node.op_type());
  c.ops.assign(ops.begin(), ops.end());
  for (const auto& input : model.graph().input()) c.inputs.push_back(input.name());
  for (const auto& output : model.graph().output()) c.outputs.push_back(output.name());
  for (int set = 0;; ++set) {
    const auto data = folder / ("test_data_set_" + std::to_string(set));
    if (!std::filesystem::exists(data)) break;
    NodeCase::Data& d = c.data.emplace_back();
    SHW_RETURN_IF_ERROR(read_tensors(data, "input", model.graph().input(), d.inputs));
    SHW_RETURN_IF_ERROR(read_tensors(data, "output", model.graph().output(), d.outputs));
  }
  if (c.data.empty()) return invalid_argument("there is no data");
  return c;
}

}  // namespace shw::testing
