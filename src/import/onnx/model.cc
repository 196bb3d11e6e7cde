#include "import/onnx/model.h"

#include <algorithm>
#include <limits>
#include <map>

#include "import/onnx/size_options.h"
#include "import/onnx/table.h"
#include "support/quoted.h"

namespace shw::import::onnx {
namespace {

using shardwise::onnx::ModelProto;
using shardwise::onnx::TensorShapeProto;
using shardwise::onnx::ValueInfoProto;

// The default domain has two names.
std::string_view domain_of(const NodeProto& node) {
  return node.domain() == "ai.onnx" ? std::string_view() : std::string_view(node.domain());
}

std::string name_of(const NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : node.op_type();
}

// PyTorch's exporter names nodes by their modules: "/encoder/layer.0/MatMul".
std::string module_of(const std::string& name) {
  const size_t end = name.rfind('/');
  if (name.empty() || name[0] != '/' || end == 0) return {};
  std::string path = name.substr(1, end - 1);
  std::ranges::replace(path, '/', '.');
  return path;
}

class Importer {
 public:
  Importer(const ModelProto& model, const Options& options) : model_(model), options_(options) {}

  Result<ImportedModel> run() {
    SHW_RETURN_IF_ERROR(read_opset());
    SHW_RETURN_IF_ERROR(check_ops());
    SHW_ASSIGN_OR_RETURN(sizes_, parse_size_options(options_.sizes));
    SHW_RETURN_IF_ERROR(add_initializers());
    SHW_RETURN_IF_ERROR(add_inputs());
    SHW_RETURN_IF_ERROR(check_options_used());
    for (int i = 0; i < model_.graph().node_size(); ++i) {
      const NodeProto& node = model_.graph().node(i);
      Status status = add_node(node);
      if (!status.ok()) {
        Status named(status.code(), node.op_type() + ": " + status.message());
        return named.at_node(i, name_of(node));
      }
    }
    SHW_RETURN_IF_ERROR(add_outputs());
    return ImportedModel{std::move(graph_), std::move(scope_.parameters)};
  }

 private:
  Status read_opset() {
    for (const auto& set : model_.opset_import())
      if (set.domain().empty() || set.domain() == "ai.onnx") scope_.opset = set.version();
    if (scope_.opset < 1)
      return invalid_argument(
          "the model names no opset of ONNX's own operators: it is no ONNX model, damaged, or uses "
          "others alone");
    if (scope_.opset > kNewestOpset)
      return unimplemented("the model is of opset " + std::to_string(scope_.opset) +
                           "; those up to " + std::to_string(kNewestOpset) + " are supported");
    if (model_.graph().sparse_initializer_size() > 0)
      return unimplemented("sparse initializers are not supported");
    return {};
  }

  // All unknown operators: porting a model requires the whole list.
  Status check_ops() const {
    std::map<std::string, int64_t> unknown;
    for (const NodeProto& node : model_.graph().node()) {
      const std::string_view domain = domain_of(node);
      if (find_mapper(domain, node.op_type(), scope_.opset) != nullptr) continue;
      std::string name = (domain.empty() ? "" : std::string(domain) + "::") + node.op_type();
      const std::string opsets = domain.empty() ? known_opsets(node.op_type()) : "";
      if (!opsets.empty())
        name += " of opset " + std::to_string(scope_.opset) + ", known in " + opsets;
      ++unknown[name];
    }
    if (unknown.empty()) return {};
    std::string list;
    for (const auto& [name, times] : unknown)
      list += (list.empty() ? "" : ", ") + name + " (" + std::to_string(times) + ")";
    return unimplemented("the model has " + std::to_string(unknown.size()) +
                         " operators that are not known: " + list);
  }

  Status define(Value value) {
    const std::string name = value.name;
    if (scope_.values.emplace(name, std::move(value)).second) return {};
    return invalid_argument("value " + quoted(name) + " is defined twice");
  }

  Status add_initializers() {
    for (const TensorProto& tensor : model_.graph().initializer()) {
      const auto known = known_of(tensor);
      if (!known.ok())
        return Status(known.status().code(),
                      "initializer " + quoted(tensor.name()) + ": " + known.status().message());
      SHW_RETURN_IF_ERROR(define({.name = tensor.name(), .known = *known}));
    }
    return {};
  }

  // If an input has an initializer of the same name, that is its value.
  Status add_inputs() {
    for (const ValueInfoProto& input : model_.graph().input()) {
      if (scope_.values.contains(input.name())) continue;
      const auto constant = options_.constants.find(input.name());
      Status status = constant == options_.constants.end() ? add_input(input)
                                                           : add_constant(input, constant->second);
      if (!status.ok())
        return Status(status.code(), "input " + quoted(input.name()) + ": " + status.message());
    }
    if (missing_.empty()) return {};
    return invalid_argument(
        "the model leaves these sizes open: " + missing_ +
        "; say what they are, as in NAME=8 or NAME=1..512 for any size up to 512");
  }

  Status add_input(const ValueInfoProto& input) {
    if (!input.type().has_tensor_type())
      return unimplemented("its type is not a tensor type, only tensors are supported");
    const auto& tensor = input.type().tensor_type();
    SHW_ASSIGN_OR_RETURN(const Dtype dtype, dtype_of(tensor.elem_type()));
    if (!tensor.has_shape()) return unimplemented("the model does not say how many dims it has");
    if (tensor.shape().dim_size() > kMaxRank) return unimplemented("it has more than 8 dims");
    Dims shape;
    Exprs sizes;
    for (int d = 0; d < tensor.shape().dim_size(); ++d) {
      SHW_ASSIGN_OR_RETURN(Expr size, size_of(tensor.shape().dim(d), input.name(), d));
      const auto at_hint = value_of(size, hints_of(graph_.symbols().table));
      shape.push_back(at_hint.value_or(std::numeric_limits<int64_t>::max()));
      sizes.push_back(std::move(size));
    }
    const TensorType type = row_major(dtype, shape);
    SHW_RETURN_IF_ERROR(check_tensor_type(type));
    InputInfo info{.role = InputRole::kInput, .name = input.name(), .position = num_inputs_++};
    Value value{.name = input.name(), .is_graph_input = true};
    value.node = emit_.input(type, std::move(sizes), std::move(info));
    return define(std::move(value));
  }

  Status add_constant(const ValueInfoProto& input, const StoredTensor& stored) {
    used_.insert(input.name());
    if (!input.type().has_tensor_type())
      return unimplemented("its type is not a tensor type, only tensors are supported");
    const auto& tensor = input.type().tensor_type();
    SHW_ASSIGN_OR_RETURN(const Dtype dtype, dtype_of(tensor.elem_type()));
    bool fits = dtype == stored.type.dtype &&
                (!tensor.has_shape() || tensor.shape().dim_size() == stored.type.rank());
    for (int d = 0; fits && d < tensor.shape().dim_size(); ++d)
      fits = !tensor.shape().dim(d).has_dim_value() ||
             tensor.shape().dim(d).dim_value() == stored.type.shape[static_cast<size_t>(d)];
    if (!fits)
      return invalid_argument("the constant given is " + to_string(stored.type) +
                              ", which the model does not take");
    Known known{stored.type, std::make_shared<const std::vector<uint8_t>>(stored.bytes)};
    return define({.name = input.name(), .known = std::move(known)});
  }

  // An unnamed size is named after its input and dim.
  Result<Expr> size_of(const TensorShapeProto::Dimension& dim, const std::string& input, int d) {
    if (dim.has_dim_value()) {
      if (dim.dim_value() < 0) return invalid_argument("a size is negative");
      return Expr{dim.dim_value(), {}};
    }
    const std::string name =
        dim.dim_param().empty() ? input + ":" + std::to_string(d) : dim.dim_param();
    const auto given = sizes_.find(name);
    if (given == sizes_.end()) {
      if (missing_names_.insert(name).second)
        missing_ += (missing_.empty() ? "" : ", ") + quoted(name);
      return Expr{1, {}};
    }
    used_.insert(name);
    const Symbol& symbol = given->second;
    if (symbol.min == symbol.max) return Expr{symbol.min, {}};
    return symbol_expr(symbol);
  }

  Result<Expr> symbol_expr(const Symbol& symbol) {
    std::vector<Symbol>& table = graph_.symbols().table;
    auto it = std::ranges::find(table, symbol.name, &Symbol::name);
    if (it == table.end()) {
      std::vector<Symbol> longer = table;
      longer.push_back(symbol);
      SHW_RETURN_IF_ERROR(check_symbols(longer));
      table = std::move(longer);
      it = table.end() - 1;
    }
    return Expr{0, {{static_cast<uint32_t>(it - table.begin()), 1}}};
  }

  // A name that the model does not have is probably a typing error.
  Status check_options_used() const {
    for (const auto& [name, symbol] : sizes_)
      if (!used_.contains(name))
        return invalid_argument("the model has no open size " + quoted(name));
    for (const auto& [name, tensor] : options_.constants)
      if (!used_.contains(name)) return invalid_argument("the model has no input " + quoted(name));
    return {};
  }

  Status add_node(const NodeProto& proto) {
    NodeMeta meta;
    meta.module_path = module_of(proto.name());
    meta.source = proto.op_type();
    emit_.begin(name_of(proto), std::move(meta));
    Node node(scope_, proto);
    const Mapper* mapper = find_mapper(domain_of(proto), proto.op_type(), scope_.opset);
    SHW_CHECK(mapper != nullptr);  // checked by check_ops()
    if (!fold(node)) mapper->map(node);
    node.check_all_read();
    return emit_.status();
  }

  Status add_outputs() {
    if (model_.graph().output_size() == 0) return invalid_argument("the model has no outputs");
    for (const ValueInfoProto& output : model_.graph().output()) {
      Status status = add_output(output);
      if (!status.ok())
        return Status(status.code(), "output " + quoted(output.name()) + ": " + status.message());
    }
    return {};
  }

  Status add_output(const ValueInfoProto& output) {
    const auto it = scope_.values.find(output.name());
    if (it == scope_.values.end()) return invalid_argument("no node computes it");
    emit_.begin(output.name(), {});
    const NodeId node = node_of(scope_, it->second);
    SHW_RETURN_IF_ERROR(emit_.status());
    if (output.type().has_tensor_type() && output.type().tensor_type().elem_type() != 0) {
      SHW_ASSIGN_OR_RETURN(const Dtype dtype, dtype_of(output.type().tensor_type().elem_type()));
      if (dtype != graph_.type(node).dtype)
        return invalid_argument("the model says that it is " + std::string(dtype_name(dtype)) +
                                ", but it is " + to_string(graph_.type(node)));
    }
    graph_.add_output({.node = node, .role = OutputRole::kResult, .name = output.name()});
    return {};
  }

  const ModelProto& model_;
  const Options& options_;
  Graph graph_;
  Emitter emit_{graph_};
  Scope scope_{.emit = emit_};
  std::map<std::string, Symbol> sizes_;
  std::set<std::string> used_, missing_names_;
  std::string missing_;
  int32_t num_inputs_ = 0;
};

}  // namespace

Result<ImportedModel> import_model(std::span<const uint8_t> bytes, const Options& options) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return invalid_argument("a model has at most 2 GiB: larger ones keep their weights elsewhere");
  ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument("this is no ONNX model, or a damaged one");
  return Importer(model, options).run();
}

}  // namespace shw::import::onnx
