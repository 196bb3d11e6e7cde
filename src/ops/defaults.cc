#include "ops/defaults.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace shw {
namespace {

std::optional<AttrValue> integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "[1]", "[]": no default is a longer list.
std::optional<AttrValue> integers(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (inside.empty()) return std::vector<int64_t>();
  const std::optional<AttrValue> only = integer(inside);
  if (!only) return std::nullopt;
  return std::vector<int64_t>{std::get<int64_t>(*only)};
}

std::optional<AttrValue> dtype(std::string_view text) {
  const std::optional<Dtype> named = dtype_from_name(text);
  if (!named) return std::nullopt;
  return *named;
}

std::optional<double> number(const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

bool same(const Param& param, const AttrValue& a, const AttrValue& b) {
  if (param.kind == ParamKind::kNumber || param.kind == ParamKind::kFloat)
    return number(a) && number(a) == number(b);
  return a == b;
}

}  // namespace

std::optional<AttrValue> default_of(const Param& param) {
  const std::string_view text = param.otherwise;
  if (param.required() || text.empty()) return std::nullopt;
  switch (param.kind) {
    case ParamKind::kInt:
    case ParamKind::kFloat:
    case ParamKind::kNumber:
      return integer(text);  // the defaults of numbers are whole
    case ParamKind::kBool:
      return text == "true";
    case ParamKind::kInts:
      return integers(text);
    case ParamKind::kDtype:
      return dtype(text);
    case ParamKind::kString:
      return std::string(text);
    default:
      return std::nullopt;
  }
}

Attrs without_defaults(OpKind op, const Attrs& attrs) {
  Attrs kept = attrs;
  for (const Param& param : op_def(op).params) {
    const auto key = attr_key_from_name(param.name);
    const AttrValue* value = key ? kept.find(*key) : nullptr;
    if (value == nullptr) continue;
    const std::optional<AttrValue> otherwise = default_of(param);
    if (otherwise && same(param, *value, *otherwise)) kept.erase(*key);
  }
  return kept;
}

}  // namespace shw
