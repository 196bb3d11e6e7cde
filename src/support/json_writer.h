// Writes JSON as text, piece by piece. It holds nothing but the text: running out of memory is an
// exception like any other, which a tree of values, whose destruction may allocate, cannot promise.
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

  // Bytes that are not UTF-8 become U+FFFD.
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
  bool is_first_ = true;  // of the object or array that is open
  bool has_key_ = false;  // a value must follow on this line
};

}  // namespace shw
