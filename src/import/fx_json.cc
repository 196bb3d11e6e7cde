#include "import/fx_json.h"

#include <array>
#include <charconv>
#include <limits>
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
#include "ops/op_def.h"

namespace shw::import {
namespace {

using nlohmann::json;

// ---- JSON without exceptions: every look-up may fail

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

std::string_view text_member(const json& object, const char* key) {
  const json* v = member(object, key);
  const auto* s = v == nullptr ? nullptr : v->get_ptr<const json::string_t*>();
  return s == nullptr ? std::string_view() : std::string_view(*s);
}

bool to_int(const json& v, int64_t* out) {
  if (!v.is_number_integer()) return false;
  if (v.is_number_unsigned() &&
      v.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return false;
  *out = v.get<int64_t>();
  return true;
}

int64_t int_member(const json& object, const char* key, int64_t otherwise) {
  const json* v = member(object, key);
  int64_t i = otherwise;
  return v != nullptr && to_int(*v, &i) ? i : otherwise;
}

// A key for each value; equal if and only if the values are equal.
std::string key_of(const json& v) { return v.dump(-1, ' ', false, json::error_handler_t::replace); }

// Numbers without a JSON literal: {"float": "-inf"}.
std::optional<double> special_number(std::string_view name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "inf") return kInfinity;
  if (name == "-inf") return -kInfinity;
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::string shortened(const json& v) {
  std::string s = key_of(v);
  if (s.size() > 60) s.resize(57), s += "...";
  return s;
}

// The `index`-th word of a space-separated list; empty past the end.
std::string_view word(std::string_view list, size_t index) {
  for (;; --index) {
    const size_t end = std::min(list.find(' '), list.size());
    if (index == 0) return list.substr(0, end);
    if (end == list.size()) return {};
    list.remove_prefix(end + 1);
  }
}

// ---- Values

std::optional<Dtype> torch_dtype(std::string_view name) {
  constexpr std::pair<std::string_view, Dtype> kNames[] = {
      {"float32", Dtype::kF32},   {"float64", Dtype::kF64},  {"float16", Dtype::kF16},
      {"bfloat16", Dtype::kBF16}, {"int8", Dtype::kI8},      {"int16", Dtype::kI16},
      {"int32", Dtype::kI32},     {"int64", Dtype::kI64},    {"uint8", Dtype::kU8},
      {"bool", Dtype::kBool},     {"complex64", Dtype::kC64}};
  for (const auto& [torch, dtype] : kNames)
    if (torch == name) return dtype;
  return std::nullopt;
}

Status read_dims(const json& value, const char* key, Dims* out) {
  const json* list = member(value, key);
  if (list == nullptr || !list->is_array())
    return invalid_argument(std::string("the value has no list '") + key + "'");
  if (list->size() > static_cast<size_t>(kMaxRank))
    return invalid_argument("the tensor has " + std::to_string(list->size()) +
                            " dims, more than the limit of " + std::to_string(kMaxRank));
  for (const json& d : *list) {
    int64_t size = 0;
    if (d.is_string() || d.is_object())
      return unimplemented("symbolic size " + shortened(d) + " in '" + key +
                           "': only sizes that are numbers are supported");
    if (!to_int(d, &size))
      return invalid_argument(shortened(d) + " in '" + key + "' is not an integer");
    out->push_back(size);
  }
  return {};
}

Status read_type(const json& value, TensorType* out) {
  SHW_RETURN_IF_ERROR(read_dims(value, "shape", &out->shape));
  SHW_RETURN_IF_ERROR(read_dims(value, "stride", &out->strides));
  const std::string_view name = text_member(value, "dtype");
  const auto dtype = torch_dtype(name);
  if (!dtype) return unimplemented("dtype '" + std::string(name) + "' is not supported");
  out->dtype = *dtype;
  return check_tensor_type(*out);
}

// The innermost frame of Python's stack trace, as "FILE:LINE in FUNCTION: CODE".
std::string last_frame(std::string_view trace) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  size_t at = trace.rfind(kFile);
  if (at == trace.npos) return {};
  trace.remove_prefix(at + kFile.size());
  at = trace.find(kLine);
  const size_t in = trace.find(kIn);
  if (at == trace.npos || in == trace.npos || in < at) return {};
  const std::string_view line = trace.substr(at + kLine.size(), in - at - kLine.size());
  std::string frame = std::string(trace.substr(0, at)) + ":" + std::string(line);
  trace.remove_prefix(in + kIn.size());
  const size_t end = std::min(trace.find('\n'), trace.size());
  frame += " in " + std::string(trace.substr(0, end));
  trace.remove_prefix(end);
  trace.remove_prefix(std::min(trace.find_first_not_of(" \n"), trace.size()));
  const std::string_view code = trace.substr(0, trace.find('\n'));
  return code.empty() ? frame : frame + ": " + std::string(code);
}

NodeMeta read_meta(const json& node) {
  constexpr std::pair<std::string_view, Recompute> kTags[] = {
      {"MUST_SAVE", Recompute::kMustSave},
      {"PREFER_SAVE", Recompute::kPreferSave},
      {"PREFER_RECOMPUTE", Recompute::kPreferRecompute},
      {"MUST_RECOMPUTE", Recompute::kMustRecompute}};
  NodeMeta meta;
  if (text_member(node, "phase") == "backward") meta.phase = Phase::kBackward;
  for (const auto& [name, tag] : kTags)
    if (text_member(node, "recompute") == name) meta.recompute = tag;
  meta.ac_graph_id = static_cast<int32_t>(int_member(node, "ac_graph_id", -1));
  meta.sequence_nr = int_member(node, "seq_nr", -1);
  constexpr std::string_view kRoot = "L['self']";  // Dynamo's name of the captured module
  std::string_view path = text_member(node, "module_path");
  if (path == kRoot) path = {};
  if (path.substr(0, kRoot.size()) == kRoot && path[kRoot.size()] == '.')
    path.remove_prefix(kRoot.size() + 1);
  meta.module_path = path;
  meta.source = last_frame(text_member(node, "stack_trace"));
  if (meta.source.empty()) meta.source = text_member(node, "stack_hash");
  return meta;
}

// ---- One call: arguments to operands and attributes

class Call {
 public:
  struct Named {
    NodeId node;                  // none: an absent place of a tuple
    const json* value = nullptr;  // its type, as recorded
  };
  using Names = std::unordered_map<std::string_view, Named>;
  Call(const AtenOp& aten, const Names& names) : aten_(aten), def_(op_def(aten.op)), names_(names) {
    size_t num_operands = 0;
    for (const Param& p : def_.params) num_operands += is_single_operand(p.kind);
    operands.assign(num_operands, kNoNode);
    if (!aten.kernel.empty()) attrs.set(AttrKey::kKernel, std::string(aten.kernel));
    if (aten.fill == aten.fill) attrs.set(AttrKey::kFillValue, aten.fill);
  }

  Status read(const json& node) {
    const json *args = member(node, "args"), *kwargs = member(node, "kwargs");
    if (args == nullptr || !args->is_array()) return invalid_argument("'args' is not a list");
    for (size_t i = 0; i < args->size(); ++i) {
      const std::string_view name = argument_name(i);
      if (name.empty())
        return invalid_argument("argument " + std::to_string(i) + " is one too many");
      SHW_RETURN_IF_ERROR(argument(name, (*args)[i]));
    }
    if (kwargs == nullptr || !kwargs->is_object()) return {};
    for (const auto& [key, value] : kwargs->items()) SHW_RETURN_IF_ERROR(argument(key, value));
    return {};
  }

  static bool convert(ParamKind kind, const json& value, AttrValue* out) {
    int64_t i = 0;
    switch (kind) {
      case ParamKind::kInts:
        return convert_list(value, out);
      case ParamKind::kDtype: {
        const auto dtype = torch_dtype(text_member(value, "dtype"));
        if (dtype) *out = *dtype;
        return dtype.has_value();
      }
      case ParamKind::kString: {
        std::string_view s = text_member(value, "memory_format");
        if (const auto* plain = value.get_ptr<const json::string_t*>()) s = *plain;
        if (s.substr(0, 6) == "torch.") s.remove_prefix(6);
        *out = std::string(s);
        return !s.empty();
      }
      case ParamKind::kBool:
        if (value.is_boolean()) *out = value.get<bool>();
        return value.is_boolean();
      case ParamKind::kInt:
        if (!to_int(value, &i)) return false;
        *out = i;
        return true;
      default:  // a number
        if (to_int(value, &i))
          *out = i;
        else if (value.is_number_float())
          *out = value.get<double>();
        else if (value.is_boolean() && kind != ParamKind::kFloat)
          *out = value.get<bool>();
        else if (const auto special = special_number(text_member(value, "float")))
          *out = *special;
        else
          return false;
        return true;
    }
  }

  // Integers, one integer, or truth values (which become 0 and 1).
  static bool convert_list(const json& value, AttrValue* out) {
    std::vector<int64_t> list;
    const auto add = [&list](const json& v) {
      int64_t i = 0;
      if (v.is_boolean())
        i = v.get<bool>();
      else if (!to_int(v, &i))
        return false;
      list.push_back(i);
      return true;
    };
    if (value.is_array()) {
      for (const json& v : value)
        if (!add(v)) return false;
    } else if (!add(value)) {
      return false;
    }
    *out = std::move(list);
    return true;
  }

  std::vector<NodeId> operands;
  Attrs attrs;

 private:
  static bool is_single_operand(ParamKind kind) {
    return kind == ParamKind::kTensor || kind == ParamKind::kOptionalTensor ||
           kind == ParamKind::kTensorOrScalar;
  }

  std::string_view argument_name(size_t i) const {
    if (!aten_.arguments.empty()) return word(aten_.arguments, i);
    return i < def_.params.size() ? def_.params[i].name : std::string_view();
  }

  Status argument(std::string_view name, const json& value) {
    if (name == "_" || value.is_null()) return {};
    size_t operand = 0;
    for (const Param& p : def_.params) {
      const bool same = p.name == name || (p.name == "dims" && name == "dim") ||  // sum(dim=[0, 1])
                        (p.name == "bias" && name == "attn_mask");
      if (same) return set(p, operand, value);
      operand += is_single_operand(p.kind);
    }
    return invalid_argument("unknown argument '" + std::string(name) + "'");
  }

  Status set(const Param& p, size_t operand, const json& value) {
    switch (p.kind) {
      case ParamKind::kIgnored:
        if (value.is_object() && member(value, "n") != nullptr)
          return unimplemented("a tensor as argument '" + std::string(p.name) + "' of " +
                               std::string(aten_.target));
        return {};
      case ParamKind::kTensorOrScalar:
        if (!value.is_object() || member(value, "float") != nullptr) return set_attr(p, value);
        [[fallthrough]];
      case ParamKind::kTensor:
      case ParamKind::kOptionalTensor:
        return reference(p, value, &operands[operand]);
      case ParamKind::kTensorList:
      case ParamKind::kOptionalTensorList:
        return list(p, value);
      default:
        return set_attr(p, value);
    }
  }

  // Tensors; for index and index_put, null for a dim that is not indexed: the indexed dims are then
  // named.
  Status list(const Param& p, const json& value) {
    if (!value.is_array()) return wrong(p, value);
    const bool takes_null = aten_.op == OpKind::kIndex || aten_.op == OpKind::kIndexPut;
    std::vector<int64_t> places;
    for (size_t i = 0; i < value.size(); ++i) {
      if (value[i].is_null() && takes_null) continue;
      NodeId node;
      SHW_RETURN_IF_ERROR(reference(p, value[i], &node));
      operands.push_back(node);
      places.push_back(static_cast<int64_t>(i));
    }
    if (places.size() < value.size()) attrs.set(AttrKey::kDims, std::move(places));
    return {};
  }

  Status reference(const Param& p, const json& value, NodeId* out) const {
    const std::string_view name = text_member(value, "n");
    if (name.empty()) return wrong(p, value);
    const auto it = names_.find(name);
    if (it == names_.end())
      return invalid_argument("argument '" + std::string(p.name) + "' is node '" +
                              std::string(name) + "', which does not come before its use");
    *out = it->second.node;
    return {};
  }

  Status set_attr(const Param& p, const json& value) {
    const auto key = attr_key_from_name(p.name);
    AttrValue v;
    if (!key || !convert(p.kind, value, &v)) return wrong(p, value);
    attrs.set(*key, std::move(v));
    return {};
  }

  static Status wrong(const Param& p, const json& value) {
    return invalid_argument("argument '" + std::string(p.name) + "' cannot be " + shortened(value));
  }

  const AtenOp& aten_;
  const OpDef& def_;
  const Names& names_;
};

// ---- One call that is expanded: arguments by name

class ExpandedCall {
 public:
  using Tuples = std::unordered_map<std::string_view, std::vector<NodeId>>;
  ExpandedCall(const Decomposition& how, const Call::Names& names, const Graph& graph)
      : how_(how), names_(names), graph_(graph) {}

  // Binds what the call gives, and the defaults of what it does not.
  Status bind(const json& node, Expansion& e) const {
    const json *args = member(node, "args"), *kwargs = member(node, "kwargs");
    if (args == nullptr || !args->is_array()) return invalid_argument("'args' is not a list");
    for (size_t i = 0;; ++i) {
      const std::string_view argument = word(how_.arguments, i);
      if (argument.empty() && i < args->size())
        return invalid_argument("argument " + std::to_string(i) + " is one too many");
      if (argument.empty()) break;
      const size_t equals = std::min(argument.find('='), argument.size());
      const std::string_view name = argument.substr(0, equals);
      const json* given = i < args->size()    ? &(*args)[i]
                          : kwargs != nullptr ? member(*kwargs, std::string(name).c_str())
                                              : nullptr;
      if (given != nullptr) {
        SHW_RETURN_IF_ERROR(bind_value(name, *given, e));
      } else if (equals < argument.size()) {
        e.run(argument.substr(equals + 1));
        e.bind(name, e.at("it"));
      } else {
        e.bind(name, {});
      }
    }
    return kwargs != nullptr && kwargs->is_object() ? check_keywords(*kwargs) : Status();
  }

 private:
  // A keyword that is none of the arguments changes nothing, or is unknown.
  Status check_keywords(const json& kwargs) const {
    constexpr std::string_view kIdle = " device layout pin_memory memory_format dtype generator ";
    for (const auto& [key, value] : kwargs.items()) {
      bool known = value.is_null() || kIdle.find(" " + key + " ") != kIdle.npos;
      for (size_t i = 0; !known && !word(how_.arguments, i).empty(); ++i) {
        const std::string_view argument = word(how_.arguments, i);
        known = argument.substr(0, argument.find('=')) == key;
      }
      if (!known) return invalid_argument("unknown argument '" + key + "'");
    }
    return {};
  }

  Status bind_value(std::string_view name, const json& value, Expansion& e) const {
    AttrValue attr;
    if (value.is_null()) {
      e.bind(name, {});
    } else if (const std::string_view of = text_member(value, "n"); !of.empty()) {
      const auto it = names_.find(of);
      if (it == names_.end())
        return invalid_argument("argument '" + std::string(name) + "' is node '" + std::string(of) +
                                "', which does not come before its use");
      if (it->second.node.valid() && graph_.is_tuple(it->second.node))
        return invalid_argument("argument '" + std::string(name) + "' is a tuple");
      e.bind(name, it->second.node.valid() ? ExpansionValue(it->second.node) : ExpansionValue());
      TensorType type;
      if (it->second.value != nullptr && read_type(*it->second.value, &type).ok())
        e.record(name, type);
    } else if (value.is_array() ? Call::convert(ParamKind::kInts, value, &attr)
                                : Call::convert(ParamKind::kNumber, value, &attr) ||
                                      Call::convert(ParamKind::kDtype, value, &attr) ||
                                      Call::convert(ParamKind::kString, value, &attr)) {
      e.bind(name, std::move(attr));
    } else if (member(value, "device") == nullptr && member(value, "py") == nullptr) {
      return invalid_argument("argument '" + std::string(name) + "' cannot be " + shortened(value));
    }
    return {};
  }

  const Decomposition& how_;
  const Call::Names& names_;
  const Graph& graph_;
};

// The function that a text names behind '@'; null: none.
Decomposer decomposer(std::string_view name) {
#define X(function) \
  if (name == #function) return decompose::function;
  SHW_DECOMPOSERS(X)
#undef X
  return nullptr;
}

// ---- The graph

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
    names_.emplace(name, Call::Named{value, member(node, "val")});
    return {};
  }

  // A tensor that tracing found in the code. Its values are the node's field "data", row-major;
  // without it, it is a buffer of the attribute's name, for the caller to give.
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
    else if (!aten || aten->op == OpKind::kConvolution || aten->op == OpKind::kConvolutionBackward)
      SHW_RETURN_IF_ERROR(expand(node, name, out, &done));
    if (done) return {};
    if (!aten) return internal_error("a decomposition is empty");
    Call call(*aten, names_);
    SHW_RETURN_IF_ERROR(call.read(node));
    if (aten->op == OpKind::kGetItem) SHW_RETURN_IF_ERROR(map_index(&call));
    SHW_RETURN_IF_ERROR(check_dropout(*aten, call));
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

  // No kernel draws the mask that attention would; a plan for it could not run.
  static Status check_dropout(const AtenOp& aten, const Call& call) {
    if ((aten.op != OpKind::kSdpa && aten.op != OpKind::kSdpaBackward) ||
        call.attrs.get_number(AttrKey::kDropoutP, 0) == 0)
      return {};
    return unimplemented("dropout inside of attention: set the model's attention dropout to 0");
  }

  // A place of a call that was expanded is one of its nodes.
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

  // Adds the nodes of a call that has a decomposition. Not done: its own op computes it.
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
    SHW_RETURN_IF_ERROR(ExpandedCall(*how, names_, graph_).bind(node, e));
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
  Call::Names names_;
  ExpandedCall::Tuples tuples_;  // the values of expanded calls that return several
  std::unordered_map<std::string_view, NodeId> constants_;
  std::unordered_map<uint32_t, std::string_view> tuple_places_;  // AtenOp::results, by node
  std::vector<int32_t> placeholders_;                            // indices into inputs()
  std::unordered_map<std::string, int32_t> inputs_by_desc_;
  int32_t num_plain_inputs_ = 0;
};

}  // namespace

Result<Graph> import_fx_json(const json& file) { return Importer(file).run(); }

}  // namespace shw::import
