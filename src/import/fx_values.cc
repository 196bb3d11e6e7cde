#include "import/fx_values.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace shw::import::fx {
namespace {

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

}  // namespace

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

std::string key_of(const json& v) { return v.dump(-1, ' ', false, json::error_handler_t::replace); }

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

std::string_view word(std::string_view list, size_t index) {
  for (;; --index) {
    const size_t end = std::min(list.find(' '), list.size());
    if (index == 0) return list.substr(0, end);
    if (end == list.size()) return {};
    list.remove_prefix(end + 1);
  }
}

std::optional<Dtype> torch_dtype(std::string_view name) {
  constexpr std::pair<std::string_view, Dtype> kNames[] = {
      {"float32", Dtype::kF32},       {"float64", Dtype::kF64},   {"float16", Dtype::kF16},
      {"bfloat16", Dtype::kBF16},     {"int8", Dtype::kI8},       {"int16", Dtype::kI16},
      {"int32", Dtype::kI32},         {"int64", Dtype::kI64},     {"uint8", Dtype::kU8},
      {"bool", Dtype::kBool},         {"complex64", Dtype::kC64}, {"float8_e4m3fn", Dtype::kF8E4M3},
      {"float8_e5m2", Dtype::kF8E5M2}};
  for (const auto& [torch, dtype] : kNames)
    if (torch == name) return dtype;
  return std::nullopt;
}

Status unsupported_dtype(std::string_view name) {
  return unimplemented("dtype '" + std::string(name) + "' is not supported");
}

Status read_type(const json& value, TensorType* out) {
  SHW_RETURN_IF_ERROR(read_dims(value, "shape", &out->shape));
  SHW_RETURN_IF_ERROR(read_dims(value, "stride", &out->strides));
  const std::string_view name = text_member(value, "dtype");
  const auto dtype = torch_dtype(name);
  if (!dtype) return unsupported_dtype(name);
  out->dtype = *dtype;
  return check_tensor_type(*out);
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

}  // namespace shw::import::fx
