#include "rewrite/verify.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/reader.h"
#include "graph/text.h"
#include "ops/entries.h"
#include "ops/op_def.h"
#include "ops/signature.h"
#include "support/quoted.h"

namespace shw {
namespace {

bool fits(ParamKind kind, const AttrValue& value) {
  const bool is_int = std::holds_alternative<int64_t>(value);
  const bool is_number = is_int || std::holds_alternative<double>(value);
  switch (kind) {
    case ParamKind::kInt:
      return is_int;
    case ParamKind::kFloat:
      return is_number;
    case ParamKind::kNumber:
    case ParamKind::kTensorOrScalar:
      return is_number || std::holds_alternative<bool>(value);
    case ParamKind::kBool:
      return std::holds_alternative<bool>(value);
    case ParamKind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(value);
    case ParamKind::kDtype:
      return std::holds_alternative<Dtype>(value);
    case ParamKind::kString:
      return std::holds_alternative<std::string>(value);
    case ParamKind::kTensor:
    case ParamKind::kOptionalTensor:
    case ParamKind::kTensorList:
    case ParamKind::kOptionalTensorList:
    case ParamKind::kTrailingTensor:
    case ParamKind::kIgnored:
      break;
  }
  return false;
}

// Nodes that state their layouts may state a number for each of several alternatives, as text.
bool is_list_of_numbers(const OpDef& def, ParamKind kind, const AttrValue& value) {
  return def.sharding == Sharding::kDeclared && kind == ParamKind::kNumber &&
         std::holds_alternative<std::string>(value);
}

// A node of the graph, or one to be added.
class NodeCheck {
 public:
  NodeCheck(const Graph& graph, OpKind op, std::span<const NodeId> operands, const Attrs& attrs)
      : graph_(graph), def_(op_def(op)), operands_(operands), attrs_(attrs) {}

  Status check_arguments() const {
    SHW_RETURN_IF_ERROR(check_operands());
    return check_attrs();
  }

  // Call it after check_arguments().
  Result<std::vector<OptionalType>> infer() {
    for (NodeId o : operands_) {
      if (!o.valid()) {
        operand_types_.emplace_back();
      } else if (!graph_.is_tuple(o)) {
        operand_types_.emplace_back(graph_.type(o));
      } else {
        SHW_RETURN_IF_ERROR(add_element(o));
      }
    }
    auto result = def_.infer({operand_types_, &attrs_});
    Status status = result.ok() ? check_float8(def_, operand_types_) : result.status();
    if (status.ok()) status = check_float8(def_, *result);
    if (!status.ok())
      return Status(status.code(), std::string(op_name(def_.kind)) + ": " + status.message());
    return result;
  }

 private:
  Status check_operands() const {
    size_t k = 0;
    for (const Param& p : def_.params) {
      if (!is_operand(p.kind)) continue;
      if (is_operand_list(p.kind)) {
        const ParamKind element =
            p.kind == ParamKind::kTensorList ? ParamKind::kTensor : ParamKind::kOptionalTensor;
        for (; k < operands_.size(); ++k)
          SHW_RETURN_IF_ERROR(check_operand(element, p.name, operands_[k]));
        continue;
      }
      if (k == operands_.size() && p.kind == ParamKind::kTrailingTensor) continue;
      if (k == operands_.size())
        return invalid_argument(std::string(op_name(def_.kind)) + " was given " +
                                std::to_string(k) + (k == 1 ? " operand: " : " operands: ") +
                                quoted(p.name) + " is missing");
      SHW_RETURN_IF_ERROR(check_operand(p.kind, p.name, operands_[k++]));
    }
    if (k != operands_.size())
      return invalid_argument(std::string(op_name(def_.kind)) + " has " +
                              std::to_string(operands_.size()) + " operands, not " +
                              std::to_string(k));
    return {};
  }

  Status check_operand(ParamKind kind, std::string_view name, NodeId operand) const {
    if (!operand.valid()) {
      if (kind == ParamKind::kOptionalTensor || kind == ParamKind::kTrailingTensor) return {};
      const auto key = attr_key_from_name(name);
      if (kind == ParamKind::kTensorOrScalar && key && attrs_.has(*key)) return {};
      return invalid_argument("operand " + quoted(name) + " is absent");
    }
    const bool wants_tuple = def_.kind == OpKind::kGetItem;
    if (graph_.is_tuple(operand) != wants_tuple)
      return invalid_argument("operand " + quoted(name) + " is " +
                              (wants_tuple ? "a tensor; a tuple" : "a tuple; a tensor") +
                              " is expected");
    if (kind != ParamKind::kTensorOrScalar) return {};
    const auto key = attr_key_from_name(name);
    return key && attrs_.has(*key)
               ? invalid_argument(quoted(name) + " is given as an operand and as a number")
               : Status();
  }

  Status check_attrs() const {
    for (const auto& [key, value] : attrs_.items()) {
      const std::string_view name = attr_key_name(key);
      const Param* param = nullptr;
      for (const Param& p : def_.params)
        if (p.name == name) param = &p;
      if (param == nullptr)
        return invalid_argument(std::string(op_name(def_.kind)) + " has no attribute " +
                                quoted(name) + known_attributes(def_.kind));
      if (!fits(param->kind, value) && !is_list_of_numbers(def_, param->kind, value))
        return invalid_argument(std::string(op_name(def_.kind)) + ": attribute " + quoted(name) +
                                " has a value of the wrong kind, " + to_string(value) +
                                "; expected " + text_of(*param));
    }
    for (const Param& p : def_.params)
      if (p.required() && !has_attr(p.name))
        return invalid_argument(std::string(op_name(def_.kind)) + ": attribute " + quoted(p.name) +
                                " is missing");
    return {};
  }

  bool has_attr(std::string_view name) const {
    return std::ranges::any_of(attrs_.items(),
                               [&](const auto& a) { return attr_key_name(a.first) == name; });
  }

  // For get_item, inference sees the tensor itself.
  Status add_element(NodeId tuple) {
    const auto elements = graph_.results(tuple);
    const int64_t index = attrs_.get_int(AttrKey::kIndex, -1);
    if (index < 0 || index >= static_cast<int64_t>(elements.size()) ||
        !elements[static_cast<size_t>(index)])
      return invalid_argument("the tuple has no tensor at place " + std::to_string(index));
    operand_types_.push_back(elements[static_cast<size_t>(index)]);
    return {};
  }

  const Graph& graph_;
  const OpDef& def_;
  const std::span<const NodeId> operands_;
  const Attrs& attrs_;
  std::vector<OptionalType> operand_types_;
};

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Status run() {
    SHW_RETURN_IF_ERROR(check_symbols(graph_));
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      Status status = check_node(NodeId{i});
      if (!status.ok()) return at_origin(std::move(status), graph_, NodeId{i});
    }
    if (next_input_ != graph_.inputs().size())
      return invalid_argument("input " + std::to_string(next_input_) + " stands for no node");
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      SHW_RETURN_IF_ERROR(check_output(graph_.outputs()[i], i));
    return verify_entries(graph_);
  }

 private:
  Status check_node(NodeId n) {
    const auto results = graph_.results(n);
    for (const auto& r : results)
      if (r) SHW_RETURN_IF_ERROR(check_tensor_type(*r));
    if (!graph_.is_tuple(n) && (results.size() != 1 || !results[0]))
      return invalid_argument("the node is not a tuple, so it needs exactly one result");
    for (NodeId o : graph_.operands(n))
      if (o.valid() && !(o < n))
        return invalid_argument("operand " + std::to_string(o.v) + " does not come before its use");
    NodeCheck node(graph_, graph_.op(n), graph_.operands(n), graph_.attrs(n));
    SHW_RETURN_IF_ERROR(node.check_arguments());
    if (graph_.op(n) == OpKind::kInput) return check_input(n);
    SHW_ASSIGN_OR_RETURN(const std::vector<OptionalType> inferred, node.infer());
    return check_types(n, inferred);
  }

  Status check_input(NodeId n) {
    if (next_input_ >= graph_.inputs().size() || graph_.inputs()[next_input_].node != n)
      return invalid_argument("the input has no entry among the inputs, or it is out of order");
    const InputInfo& input = graph_.inputs()[next_input_];
    if (input.role == InputRole::kTangent && input.position >= 0 &&
        static_cast<size_t>(input.position) >= graph_.outputs().size())
      return invalid_argument("the tangent belongs to output " + std::to_string(input.position) +
                              "; the graph has " + std::to_string(graph_.outputs().size()));
    ++next_input_;
    return check_storage(input, graph_.type(n));
  }

  static Status check_storage(const InputInfo& input, const TensorType& type) {
    if (input.role != InputRole::kConstant)
      return input.data == nullptr ? Status() : invalid_argument("only a constant has data");
    if (input.storage == InputStorage::kState)
      return invalid_argument("a constant does not change, so it is no state");
    const size_t bytes = input.data == nullptr ? 0 : input.data->size();
    if (type.contiguous() && bytes == static_cast<size_t>(type.bytes())) return {};
    return invalid_argument("the constant has " + std::to_string(bytes) + " bytes; it is " +
                            to_string(type) + ", row-major");
  }

  Status check_types(NodeId n, std::span<const OptionalType> inferred) const {
    const auto recorded = graph_.results(n);
    if (recorded.size() != inferred.size())
      return invalid_argument(std::string(op_name(graph_.op(n))) + " has " +
                              std::to_string(inferred.size()) + " results, not " +
                              std::to_string(recorded.size()));
    for (size_t i = 0; i < recorded.size(); ++i) {
      if (recorded[i].has_value() == inferred[i].has_value() &&
          (!recorded[i] ||
           (recorded[i]->shape == inferred[i]->shape && recorded[i]->dtype == inferred[i]->dtype)))
        continue;
      const auto say = [](const OptionalType& t) { return t ? to_string(*t) : "none"; };
      return invalid_argument("result " + std::to_string(i) + " is recorded as " +
                              say(recorded[i]) + " but is " + say(inferred[i]));
    }
    return {};
  }

  Status check_output(const OutputInfo& out, size_t index) const {
    const std::string where = "output " + std::to_string(index);
    if (out.node.valid() && (out.node.v >= graph_.num_nodes() || graph_.is_tuple(out.node)))
      return invalid_argument(where + " is not a tensor of the graph");
    const auto num_inputs = static_cast<int64_t>(graph_.inputs().size());
    if (out.of_input < -1 || out.of_input >= num_inputs)
      return invalid_argument(where + " belongs to input " + std::to_string(out.of_input) +
                              "; the graph has " + std::to_string(num_inputs));
    if (out.in_place && (out.role != OutputRole::kUpdate || !out.node.valid()))
      return invalid_argument(where + " is made in place, but is no update");
    if (out.role == OutputRole::kResult || !out.node.valid()) return {};
    if (out.of_input < 0)
      return invalid_argument(where + " is a gradient or an update of no input");
    const TensorType& input = graph_.type(graph_.inputs()[static_cast<size_t>(out.of_input)].node);
    if (graph_.type(out.node).shape != input.shape)
      return at_origin(invalid_argument(where + " is " + to_string(graph_.type(out.node)) +
                                        "; the input that it belongs to is " + to_string(input)),
                       graph_, out.node);
    return out.role == OutputRole::kUpdate ? check_update(out, where) : Status();
  }

  Status check_update(const OutputInfo& out, const std::string& where) const {
    const InputInfo& input = graph_.inputs()[static_cast<size_t>(out.of_input)];
    if (input.role == InputRole::kConstant) return invalid_argument(where + " updates a constant");
    if (input.storage == InputStorage::kState && !out.in_place)
      return invalid_argument(where + " updates state, which is always done in place");
    if (out.in_place && graph_.type(out.node).dtype != graph_.type(input.node).dtype)
      return at_origin(invalid_argument(where + " is " + to_string(graph_.type(out.node)) +
                                        ", which cannot take the place of " +
                                        to_string(graph_.type(input.node))),
                       graph_, out.node);
    return {};
  }

  const Graph& graph_;
  size_t next_input_ = 0;
};

}  // namespace

Status verify_graph(const Graph& graph) { return Verifier(graph).run(); }

void add_absent_operands(OpKind kind, const Attrs& attrs, std::vector<NodeId>& operands) {
  size_t count = 0;
  for (const Param& p : op_def(kind).params) {
    if (is_operand_list(p.kind)) return;
    if (!is_operand(p.kind) || count++ < operands.size()) continue;
    const std::optional<AttrKey> key = attr_key_from_name(p.name);
    const bool is_number =
        p.kind == ParamKind::kTensorOrScalar && key.has_value() && attrs.has(*key);
    if (!is_number && p.kind != ParamKind::kOptionalTensor) return;
    operands.push_back(kNoNode);
  }
}

Result<std::vector<std::optional<TensorType>>> infer_results(const Graph& graph, OpKind op,
                                                             std::span<const NodeId> operands,
                                                             const Attrs& attrs) {
  NodeCheck node(graph, op, operands, attrs);
  SHW_RETURN_IF_ERROR(node.check_arguments());
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> types, node.infer());
  for (const OptionalType& type : types)
    if (type) SHW_RETURN_IF_ERROR(check_tensor_type(*type));
  return types;
}

Result<Graph> load_graph(std::span<const uint8_t> bytes, const GraphLimits& limits) {
  Graph graph;
  if (bytes.size() <= limits.max_bytes && is_graph_text(bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    SHW_ASSIGN_OR_RETURN(graph, parse_graph(text));
  } else {
    SHW_ASSIGN_OR_RETURN(graph, read_graph(bytes, limits));
  }
  SHW_RETURN_IF_ERROR(verify_graph(graph));
  return graph;
}

}  // namespace shw
