#include "support/json_writer.h"

#include <charconv>
#include <cmath>

namespace shw {
namespace {

// Length of the UTF-8 sequence at the start of `s`; 0 if invalid (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF).
size_t sequence_length(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<uint8_t>(s[i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned b0 = byte(0), b1 = byte(1);
  if (b0 < 0x80) return 1;
  if (b0 >= 0xc2 && b0 <= 0xdf) return follows(1) ? 2 : 0;
  if (b0 >= 0xe0 && b0 <= 0xef) {
    if (!follows(1) || !follows(2) || (b0 == 0xe0 && b1 < 0xa0) || (b0 == 0xed && b1 > 0x9f))
      return 0;
    return 3;
  }
  if (b0 >= 0xf0 && b0 <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3) || (b0 == 0xf0 && b1 < 0x90) ||
        (b0 == 0xf4 && b1 > 0x8f))
      return 0;
    return 4;
  }
  return 0;
}

}  // namespace

void JsonWriter::begin_item() {
  if (has_key_) {
    has_key_ = false;
    return;
  }
  if (!is_first_) text_ += ',';
  if (depth_ > 0) {
    text_ += '\n';
    text_.append(depth_, ' ');
  }
  is_first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  begin_item();
  text_ += bracket;
  ++depth_;
  is_first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  --depth_;
  if (!is_first_) {
    text_ += '\n';
    text_.append(depth_, ' ');
  }
  text_ += bracket;
  is_first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  begin_item();
  quote(name);
  text_ += ": ";
  has_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::word(std::string_view w) {
  begin_item();
  text_ += w;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  begin_item();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return word("null");
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return word({buffer, static_cast<size_t>(end - buffer)});
}

void JsonWriter::quote(std::string_view s) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  while (!s.empty()) {
    const auto c = static_cast<unsigned char>(s[0]);
    const size_t length = sequence_length(s);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += s[0];
    } else if (c < 0x20) {
      text_ += "\\u00";
      text_ += kHex[c >> 4];
      text_ += kHex[c & 15];
    } else if (length == 0) {
      text_ += "\xef\xbf\xbd";
    } else {
      text_ += s.substr(0, length);
    }
    s.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace shw
