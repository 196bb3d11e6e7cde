#include "tensor/attrs.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "support/hash.h"

namespace shw {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(AttrKey::kCount)> kAttrNames = {
#define X(id, name) name,
    SHW_ATTR_KEYS(X)
#undef X
};

std::string number_text(double v) {
  char buffer[40];
  const auto r =
      std::to_chars(buffer, buffer + sizeof buffer, v);  // shortest that reads back equal
  std::string s(buffer, r.ptr);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";
  return s;
}

}  // namespace

std::string_view attr_key_name(AttrKey key) { return kAttrNames[static_cast<size_t>(key)]; }

std::optional<AttrKey> attr_key_from_name(std::string_view name) {
  const auto it = std::find(kAttrNames.begin(), kAttrNames.end(), name);
  if (it == kAttrNames.end()) return std::nullopt;
  return static_cast<AttrKey>(it - kAttrNames.begin());
}

std::string to_string(const AttrValue& value) {
  struct Visitor {
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number_text(v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(Dtype v) const { return std::string(dtype_name(v)); }
    std::string operator()(const std::vector<int64_t>& v) const {
      std::string s = "[";
      for (size_t i = 0; i < v.size(); ++i) s += (i ? "," : "") + std::to_string(v[i]);
      return s + "]";
    }
    std::string operator()(const std::string& v) const {
      std::string s = "\"";
      for (char c : v) {
        if (c == '"' || c == '\\') s += '\\';
        s += c;
      }
      return s + "\"";
    }
  };
  return std::visit(Visitor{}, value);
}

void Attrs::set(AttrKey key, AttrValue value) {
  const auto it = std::lower_bound(items_.begin(), items_.end(), key,
                                   [](const Item& a, AttrKey k) { return a.first < k; });
  if (it != items_.end() && it->first == key)
    it->second = std::move(value);
  else
    items_.insert(it, {key, std::move(value)});
}

void Attrs::erase(AttrKey key) {
  std::erase_if(items_, [key](const Item& a) { return a.first == key; });
}

const AttrValue* Attrs::find(AttrKey key) const {
  for (const Item& a : items_)
    if (a.first == key) return &a.second;
  return nullptr;
}

int64_t Attrs::get_int(AttrKey key, int64_t otherwise) const {
  const AttrValue* v = find(key);
  const int64_t* i = v ? std::get_if<int64_t>(v) : nullptr;
  return i ? *i : otherwise;
}

double Attrs::get_number(AttrKey key, double otherwise) const {
  const AttrValue* v = find(key);
  if (v == nullptr) return otherwise;
  if (const double* d = std::get_if<double>(v)) return *d;
  if (const int64_t* i = std::get_if<int64_t>(v)) return static_cast<double>(*i);
  return otherwise;
}

bool Attrs::get_bool(AttrKey key, bool otherwise) const {
  const AttrValue* v = find(key);
  const bool* b = v ? std::get_if<bool>(v) : nullptr;
  return b ? *b : otherwise;
}

Dtype Attrs::get_dtype(AttrKey key, Dtype otherwise) const {
  const AttrValue* v = find(key);
  const Dtype* d = v ? std::get_if<Dtype>(v) : nullptr;
  return d ? *d : otherwise;
}

const std::vector<int64_t>& Attrs::get_ints(AttrKey key) const {
  static const std::vector<int64_t> kNone;
  const AttrValue* v = find(key);
  const auto* l = v ? std::get_if<std::vector<int64_t>>(v) : nullptr;
  return l ? *l : kNone;
}

std::string_view Attrs::get_string(AttrKey key) const {
  const AttrValue* v = find(key);
  const std::string* s = v ? std::get_if<std::string>(v) : nullptr;
  return s ? std::string_view(*s) : std::string_view();
}

uint64_t hash_of(const Attrs& attrs) {
  uint64_t h = attrs.items().size();
  for (const auto& [key, value] : attrs.items())
    h = hash_bytes(to_string(value),
                   hash_combine(h, static_cast<uint64_t>(key) << 8 | value.index()));
  return h;
}

}  // namespace shw
