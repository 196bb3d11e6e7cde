#include "import/fx_json.h"

#include <array>
#include <charconv>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/aten_table.h"
#include "import/constant_data.h"
#include "import/decompose.h"
#include "import/decompositions.h"
#include "import/fx_call.h"
#include "import/fx_expanded_call.h"
#include "import/fx_values.h"
#include "ops/op_def.h"

namespace shw::import {
namespace {

using namespace fx;

// Operations whose overload also has a decomposition, for the calls that they cannot represent.
bool is_sometimes_expanded(OpKind op) {
  return op == OpKind::kConvolution || op == OpKind::kConvolutionBackward ||
         op == OpKind::kLayerNorm || op == OpKind::kLayerNormBackward;
}

// The function named after '@' in a text; null: none.
Decomposer decomposer(std::string_view name) {
#define X(function) \
  if (name == #function) return decompose::function;
  SHW_DECOMPOSERS(X)
#undef X
  return nullptr;
}

class Importer {
 public:
  explicit Importer(const json& file) : file_(file) {}

  Result<Graph> run() {
    SHW_RETURN_IF_ERROR(check_file());
    SHW_RETURN_IF_ERROR(check_ops());
    graph_.reserve(nodes_->size());
    for (size_t i = 0; i < nodes_->size(); ++i) {
      const json& node = (*nodes_)[i];
      Status status = read_node(node);
      if (!status.ok()) return status.at_node(static_cast<int64_t>(i), text_member(node, "name"));
    }
    return std::move(graph_);
  }

 private:
  Status check_file() {
    if (text_member(file_, "format") != "ap-graph-1")
      return invalid_argument("the file's 'format' is not \"ap-graph-1\"");
    nodes_ = member(file_, "nodes");
    if (nodes_ == nullptr || !nodes_->is_array() || nodes_->empty())
      return invalid_argument("the file has no list 'nodes'");
    for (size_t i = 0; i < nodes_->size(); ++i) {
      const bool is_last = i + 1 == nodes_->size();
      if ((text_member((*nodes_)[i], "op") == "output") != is_last)
        return invalid_argument("the last node, and no other, must be the output")
            .at_node(static_cast<int64_t>(i), text_member((*nodes_)[i], "name"));
    }
    const json* desc = member(nodes_->back(), "desc");
    if (desc != nullptr && desc->is_array()) output_descs_ = desc;
    return {};
  }

  // Collects all unknown operations: porting a model requires the whole list.
  Status check_ops() const {
    struct Unknown {
      int64_t times = 0;
      const json* first = nullptr;
    };
    std::map<std::string_view, Unknown> unknown;
    for (const json& node : *nodes_) {
      const std::string_view op = text_member(node, "op"), target = text_member(node, "target");
      const bool is_call = op == "call_function";
      if (is_call ? find_aten_op(target).has_value() || find_decomposition(target)
                  : op == "placeholder" || op == "output" || op == "get_attr")
        continue;
      Unknown& u = unknown[is_call ? target : op];
      if (u.times++ == 0) u.first = &node;
    }
    if (unknown.empty()) return {};
    std::string list, reasons;
    for (const auto& [name, u] : unknown) {
      const NodeMeta meta = read_meta(*u.first);
      list += (list.empty() ? "" : ", ") + std::string(name) + " (" + std::to_string(u.times) +
              ", first at node '" + std::string(text_member(*u.first, "name")) + "'" +
              (meta.module_path.empty() ? "" : " of " + meta.module_path) + ")";
      if (const std::string_view why = why_refused(name); !why.empty())
        reasons += "; " + std::string(name) + ": " + std::string(why);
    }
    return unimplemented("the graph has " + std::to_string(unknown.size()) +
                         " ops that are not known: " + list + reasons +
                         "; decompose them before the export (decomposition_table), or leave them "
                         "out of the traced function");
  }

  Status read_node(const json& node) {
    const std::string_view op = text_member(node, "op");
    if (op == "output") return read_outputs(node);
    const std::string_view name = text_member(node, "name");
    if (name.empty()) return invalid_argument("the node has no name");
    if (names_.count(name) != 0) return invalid_argument("an earlier node has this name already");
    NodeId value;
    SHW_RETURN_IF_ERROR(op == "placeholder" ? read_input(node, name, &value)
                        : op == "get_attr"  ? read_constant(node, name, &value)
                                            : read_call(node, name, &value));
    names_.emplace(name, Named{value, member(node, "val")});
    return {};
  }

  // A tensor that tracing found in the code. The node's field "data" has its values, row-major.
  // Without this field it becomes a buffer with the attribute's name, which the caller must supply.
  Status read_constant(const json& node, std::string_view name, NodeId* out) {
    const std::string_view target = text_member(node, "target");
    if (const auto it = constants_.find(target); it != constants_.end()) {
      *out = it->second;
      return {};
    }
    const json *value = member(node, "val"), *data = member(node, "data");
    if (value == nullptr || !value->is_object() || target.empty())
      return unimplemented("attribute '" + std::string(target) +
                           "' is no tensor: graphs inside of the graph are not supported");
    TensorType type;
    SHW_RETURN_IF_ERROR(read_type(*value, &type));
    InputInfo info{.role = InputRole::kBuffer, .name = std::string(target)};
    if (data != nullptr && !data->is_null()) {
      info.role = InputRole::kConstant;
      type = row_major(type.dtype, type.shape);
      SHW_ASSIGN_OR_RETURN(info.data, constant_data(*data, type));
    }
    *out = graph_.add_input(std::string(name), type, std::move(info), read_meta(node));
    constants_.emplace(target, *out);
    return {};
  }

  Status read_input(const json& node, std::string_view name, NodeId* out) {
    const json* value = member(node, "val");
    if (value == nullptr || !value->is_object())
      return invalid_argument("the placeholder's 'val' is not one tensor");
    TensorType type;
    SHW_RETURN_IF_ERROR(read_type(*value, &type));
    InputInfo info;
    SHW_RETURN_IF_ERROR(read_role(member(node, "desc"), name, &info));
    if (const json* desc = member(node, "desc"); desc != nullptr && !desc->is_null())
      inputs_by_desc_.emplace(key_of(*desc), static_cast<int32_t>(graph_.inputs().size()));
    NodeMeta meta = read_meta(node);
    meta.module_path.clear();  // for a placeholder it is the parameter's name
    placeholders_.push_back(static_cast<int32_t>(graph_.inputs().size()));
    *out = graph_.add_input(std::string(name), type, std::move(info), std::move(meta));
    return {};
  }

  Status read_role(const json* desc, std::string_view node_name, InputInfo* info) {
    if (desc == nullptr || desc->is_null()) {  // unspecified: an input, with the node's name
      info->name = node_name;
      info->position = num_plain_inputs_++;
      return {};
    }
    const std::string_view kind = text_member(*desc, "cls");
    const int64_t index = int_member(*desc, "idx", -1);
    if (kind == "ParamAOTInput" || kind == "BufferAOTInput") {
      info->role = kind == "ParamAOTInput" ? InputRole::kParameter : InputRole::kBuffer;
      info->name = text_member(*desc, "target");
      return info->name.empty() ? invalid_argument("the descriptor names no parameter") : Status();
    }
    if (kind == "PlainAOTInput" && index >= 0 && index <= std::numeric_limits<int32_t>::max()) {
      info->name = std::to_string(index);
      info->position = static_cast<int32_t>(index);
      ++num_plain_inputs_;
      return {};
    }
    if (kind == "TangentAOTInput") return read_tangent(*desc, info);
    return unimplemented("input descriptor " + shortened(*desc) + " is not supported");
  }

  // Finds its output by comparing descriptors.
  Status read_tangent(const json& desc, InputInfo* info) const {
    info->role = InputRole::kTangent;
    const json* output = member(desc, "output");
    if (output == nullptr || output_descs_ == nullptr)
      return invalid_argument("the tangent's descriptor names no output");
    for (size_t i = 0; i < output_descs_->size(); ++i) {
      if ((*output_descs_)[i] != *output) continue;
      info->position = static_cast<int32_t>(i);
      info->name = std::to_string(int_member(*output, "idx", static_cast<int64_t>(i)));
      return {};
    }
    return invalid_argument("no output has the descriptor " + shortened(*output) +
                            " of this tangent");
  }

  Status read_call(const json& node, std::string_view name, NodeId* out) {
    const std::string_view target = text_member(node, "target");
    const std::optional<AtenOp> aten = find_aten_op(target);
    bool done = false;
    if (aten && aten->op == OpKind::kGetItem)
      SHW_RETURN_IF_ERROR(take_element(node, out, &done));
    else if (!aten || is_sometimes_expanded(aten->op))
      SHW_RETURN_IF_ERROR(expand(node, name, out, &done));
    if (done) return {};
    if (!aten) return internal_error("a decomposition is empty");
    Call call(*aten, names_);
    SHW_RETURN_IF_ERROR(call.read(node));
    if (aten->op == OpKind::kGetItem) SHW_RETURN_IF_ERROR(map_index(&call));
    std::vector<std::optional<TensorType>> results;
    bool is_tuple = false;
    SHW_RETURN_IF_ERROR(read_results(node, *aten, &results, &is_tuple));
    NodeMeta meta = read_meta(node);
    convert_scalars(graph_, aten->op, call.operands, std::string(name), meta);
    *out = graph_.add_node(aten->op, std::string(name), call.operands, std::move(call.attrs),
                           results, is_tuple, std::move(meta));
    if (!aten->results.empty()) tuple_places_.emplace(out->v, aten->results);
    return {};
  }

  // An element of the result of an expanded call is one of its nodes.
  Status take_element(const json& node, NodeId* out, bool* done) const {
    const json* args = member(node, "args");
    if (args == nullptr || !args->is_array() || args->size() != 2) return {};
    const auto it = tuples_.find(text_member((*args)[0], "n"));
    if (it == tuples_.end()) return {};
    int64_t place = -1;
    if (!to_int((*args)[1], &place) || place < 0 ||
        place >= static_cast<int64_t>(it->second.size()))
      return invalid_argument("the tuple has no place " + shortened((*args)[1]));
    *out = it->second[static_cast<size_t>(place)];
    *done = true;
    return {};
  }

  // Adds the nodes of a call that has a decomposition. Not done: the overload has its own
  // operation.
  Status expand(const json& node, std::string_view name, NodeId* out, bool* done) {
    const auto how = find_decomposition(text_member(node, "target"));
    if (!how) return {};
    const json* value = member(node, "val");
    if (value == nullptr || value->is_null()) return invalid_argument("the node has no 'val'");
    std::vector<std::optional<TensorType>> results;
    const bool is_tuple = value->is_array();
    if (is_tuple)
      for (const json& v : *value) SHW_RETURN_IF_ERROR(read_element(v, &results));
    else
      SHW_RETURN_IF_ERROR(read_element(*value, &results));
    Expansion e(graph_, std::string(name), read_meta(node), results);
    SHW_RETURN_IF_ERROR(bind_arguments(*how, names_, graph_, node, e));
    std::string_view text = how->text;
    if (text.starts_with('@')) {
      const Decomposer prepare = decomposer(text.substr(1));
      text = {};
      if (prepare == nullptr) return internal_error("there is no such decomposition");
      text = prepare(e);
      if (text.empty()) return e.status();
    }
    SHW_ASSIGN_OR_RETURN(std::vector<NodeId> values, e.finish(text));
    *done = true;
    if (is_tuple)
      tuples_.emplace(name, std::move(values));
    else if (!values.empty())
      *out = values[0];
    return {};
  }

  // Translates the index of get_item from the overload's tuple to ours.
  Status map_index(Call* call) const {
    const NodeId tuple = call->operands[0];
    if (!tuple.valid()) return invalid_argument("get_item has no operand");
    const auto producer = tuple_places_.find(tuple.v);
    if (producer == tuple_places_.end()) return {};
    const int64_t wanted = call->attrs.get_int(AttrKey::kIndex, -1);
    for (size_t i = 0;; ++i) {
      const std::string_view place = word(producer->second, i);
      if (place.empty())
        return unimplemented("place " + std::to_string(wanted) + " of the results of " +
                             graph_.name(tuple) + " is not supported");
      if (place != std::to_string(wanted)) continue;
      call->attrs.set(AttrKey::kIndex, static_cast<int64_t>(i));
      return {};
    }
  }

  static Status read_results(const json& node, const AtenOp& aten,
                             std::vector<std::optional<TensorType>>* out, bool* is_tuple) {
    const json* value = member(node, "val");
    *is_tuple = value != nullptr && value->is_array();
    if (value == nullptr || value->is_null()) return invalid_argument("the node has no 'val'");
    if (!*is_tuple) {
      out->emplace_back(TensorType{});
      return read_type(*value, &**out->begin());
    }
    if (aten.results.empty()) {
      for (const json& v : *value) SHW_RETURN_IF_ERROR(read_element(v, out));
      return {};
    }
    static const json kAbsent;
    for (size_t i = 0;; ++i) {
      const std::string_view place = word(aten.results, i);
      if (place.empty()) return {};
      size_t at = value->size();
      std::from_chars(place.data(), place.data() + place.size(), at);  // "-" leaves it unchanged
      SHW_RETURN_IF_ERROR(read_element(at < value->size() ? (*value)[at] : kAbsent, out));
    }
  }

  // A tensor, or absent if null or a Python number.
  static Status read_element(const json& value, std::vector<std::optional<TensorType>>* out) {
    out->emplace_back();
    if (member(value, "shape") == nullptr) return {};
    out->back().emplace();
    return read_type(value, &*out->back());
  }

  Status read_outputs(const json& node) {
    const json* args = member(node, "args");
    if (args == nullptr || !args->is_array() || args->size() != 1)
      return invalid_argument("the output's 'args' is not a list of one list");
    const json& front = args->front();
    const auto* list = front.get_ptr<const json::array_t*>();
    const auto values = list != nullptr ? std::span<const json>(*list) : std::span(&front, 1);
    if (output_descs_ != nullptr && output_descs_->size() != values.size())
      return invalid_argument("the output has " + std::to_string(values.size()) + " values and " +
                              std::to_string(output_descs_->size()) + " descriptors");
    for (size_t i = 0; i < values.size(); ++i) SHW_RETURN_IF_ERROR(read_output(values, i));
    return {};
  }

  Status read_output(std::span<const json> values, size_t index) {
    OutputInfo info;
    const std::string where = "output " + std::to_string(index);
    if (!values[index].is_null()) {
      const auto it = names_.find(text_member(values[index], "n"));
      if (it == names_.end())
        return invalid_argument(where + " is not a node: " + shortened(values[index]));
      info.node = it->second.node;
    }
    static const json kNone;
    const json& desc = output_descs_ == nullptr ? kNone : (*output_descs_)[index];
    const std::string_view kind = text_member(desc, "cls");
    if (kind == "PlainAOTOutput" || output_descs_ == nullptr) {
      info.name = std::to_string(int_member(desc, "idx", static_cast<int64_t>(index)));
    } else if (kind == "GradAOTOutput" || kind == "InputMutationAOTOutput") {
      const bool is_gradient = kind == "GradAOTOutput";
      info.role = is_gradient ? OutputRole::kGradient : OutputRole::kUpdate;
      const json* of = member(desc, is_gradient ? "grad_of" : "mutated_input");
      const auto it = inputs_by_desc_.find(of == nullptr ? std::string() : key_of(*of));
      if (it == inputs_by_desc_.end())
        return invalid_argument(where + " belongs to no input: " + shortened(desc));
      info.of_input = it->second;
    } else if (desc.is_null() && !info.node.valid()) {
      info.role = OutputRole::kGradient;
      info.of_input = input_of_slot(values.size(), index);
    } else {
      return unimplemented(where + " has the descriptor " + shortened(desc) +
                           ", which is not supported");
    }
    graph_.add_output(std::move(info));
    return {};
  }

  // An output without value and descriptor stands for a gradient that does not exist: AOT export
  // returns the results, then one slot for each input that is not a tangent, in order.
  int32_t input_of_slot(size_t num_values, size_t index) const {
    std::vector<int32_t> primals;
    for (int32_t i : placeholders_)
      if (graph_.inputs()[static_cast<size_t>(i)].role != InputRole::kTangent) primals.push_back(i);
    if (num_values < primals.size() || index < num_values - primals.size()) return -1;
    return primals[index - (num_values - primals.size())];
  }

  const json& file_;
  const json* nodes_ = nullptr;
  const json* output_descs_ = nullptr;  // null: none given
  Graph graph_;
  Names names_;
  // The values of expanded calls that return several.
  std::unordered_map<std::string_view, std::vector<NodeId>> tuples_;
  std::unordered_map<std::string_view, NodeId> constants_;
  std::unordered_map<uint32_t, std::string_view> tuple_places_;  // AtenOp::results, by node
  std::vector<int32_t> placeholders_;                            // indices into inputs()
  std::unordered_map<std::string, int32_t> inputs_by_desc_;
  int32_t num_plain_inputs_ = 0;
};

}  // namespace

Result<Graph> import_fx_json(const json& file) { return Importer(file).run(); }

}  // namespace shw::import
