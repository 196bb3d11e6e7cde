// Writes JSON incrementally. It holds nothing but the text, so running out of memory is an ordinary
// exception; a tree of values cannot promise that, because its destructor may allocate.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace shw {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  // Invalid UTF-8 becomes U+FFFD.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool b) { return word(b ? "true" : "false"); }
  JsonWriter& value(double number);  // shortest text that reads back equal; not finite: null
  template <class T>
  requires std::is_integral_v<T> JsonWriter& value(T number) {
    return word(std::to_string(number));
  }

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }

  std::string take() { return std::move(text_); }

 private:
  void begin_item();
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& word(std::string_view w);
  void quote(std::string_view s);

  std::string text_;
  size_t depth_ = 0;
  bool is_first_ = true;  // of the current object or array
  bool has_key_ = false;  // a value must follow on this line
};

}  // namespace shw
