#include "import/fx_call.h"

#include <string>
#include <utility>

#include "import/fx_values.h"

namespace shw::import::fx {
namespace {

// Integers, one integer, or truth values (which become 0 and 1).
bool convert_list(const json& value, AttrValue* out) {
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

bool is_single_operand(ParamKind kind) {
  return kind == ParamKind::kTensor || kind == ParamKind::kOptionalTensor ||
         kind == ParamKind::kTensorOrScalar;
}

Status wrong(const Param& p, const json& value) {
  const std::string_view dtype = text_member(value, "dtype");
  if (p.kind == ParamKind::kDtype && !dtype.empty()) return unsupported_dtype(dtype);
  return invalid_argument("argument '" + std::string(p.name) + "' cannot be " + shortened(value));
}

}  // namespace

bool convert(ParamKind kind, const json& value, AttrValue* out) {
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

Call::Call(const AtenOp& aten, const Names& names)
    : aten_(aten), def_(op_def(aten.op)), names_(names) {
  size_t num_operands = 0;
  for (const Param& p : def_.params) num_operands += is_single_operand(p.kind);
  operands.assign(num_operands, kNoNode);
  if (!aten.kernel.empty()) attrs.set(AttrKey::kKernel, std::string(aten.kernel));
  if (aten.fill == aten.fill) attrs.set(AttrKey::kFillValue, aten.fill);
}

Status Call::read(const json& node) {
  const json *args = member(node, "args"), *kwargs = member(node, "kwargs");
  if (args == nullptr || !args->is_array()) return invalid_argument("'args' is not a list");
  for (size_t i = 0; i < args->size(); ++i) {
    const std::string_view name = argument_name(i);
    if (name.empty()) return invalid_argument("argument " + std::to_string(i) + " is one too many");
    SHW_RETURN_IF_ERROR(argument(name, (*args)[i]));
  }
  if (kwargs == nullptr || !kwargs->is_object()) return {};
  for (const auto& [key, value] : kwargs->items()) SHW_RETURN_IF_ERROR(argument(key, value));
  return {};
}

std::string_view Call::argument_name(size_t i) const {
  if (!aten_.arguments.empty()) return word(aten_.arguments, i);
  return i < def_.params.size() ? def_.params[i].name : std::string_view();
}

Status Call::argument(std::string_view name, const json& value) {
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

Status Call::set(const Param& p, size_t operand, const json& value) {
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

// A list of tensors. For index and index_put it has null for each dim that is not indexed; the
// indexed dims are then stored by number.
Status Call::list(const Param& p, const json& value) {
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

Status Call::reference(const Param& p, const json& value, NodeId* out) const {
  const std::string_view name = text_member(value, "n");
  if (name.empty()) return wrong(p, value);
  const auto it = names_.find(name);
  if (it == names_.end())
    return invalid_argument("argument '" + std::string(p.name) + "' is node '" + std::string(name) +
                            "', which does not come before its use");
  *out = it->second.node;
  return {};
}

Status Call::set_attr(const Param& p, const json& value) {
  const auto key = attr_key_from_name(p.name);
  AttrValue v;
  if (!key || !convert(p.kind, value, &v)) return wrong(p, value);
  attrs.set(*key, std::move(v));
  return {};
}

}  // namespace shw::import::fx
