#include "report/tables.h"

#include <charconv>
#include <cmath>

#include "support/json_writer.h"

namespace shw::report {
namespace {

std::string without_end(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

uint32_t Tables::index_of(std::map<std::string, uint32_t>& index, std::string& items,
                          const std::string& json) {
  const auto next = static_cast<uint32_t>(index.size());
  const auto [at, added] = index.try_emplace(json, next);
  if (added) items += (items.empty() ? "" : ",") + json;
  return at->second;
}

std::string Tables::json() const {
  return "\"texts\":[" + texts_ + "],\"numbers\":[" + numbers_ + "]";
}

std::string quoted(std::string_view text) { return JsonWriter().value(text).take(); }

std::string shortest(double number) { return JsonWriter().value(number).take(); }

std::string in_nanoseconds(double us) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, us, std::chars_format::fixed, 3);
  return end.ec == std::errc() ? without_end(std::string(text, end.ptr)) : shortest(us);
}

std::string compact(std::string_view json) {
  std::string text;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      text += c;
      text += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\n')) text += c;
  }
  return text;
}

}  // namespace shw::report
