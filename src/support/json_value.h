// A small JSON document as a tree, for hand-written input of the library such as hardware
// descriptions. Input is not trusted: size and depth are limited, duplicate keys are refused, and
// nothing recurses on the input. Large files are read by the tool (src/import).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace shw {

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool boolean = false;
  double number = 0;                                  // finite
  std::string string;                                 // UTF-8
  std::vector<JsonValue> items;                       // of an array or object
  std::vector<std::string> keys;                      // of an object: the name of each item
  const JsonValue* find(std::string_view key) const;  // nullptr: no such key, or not an object
};

inline constexpr size_t kMaxJsonText = 1 << 20;
inline constexpr size_t kMaxJsonDepth = 16;

// INVALID_ARGUMENT states the position of a syntax error. RESOURCE_EXHAUSTED: too long or nested
// too deeply.
Result<JsonValue> parse_json(std::string_view text, size_t max_bytes = kMaxJsonText);

}  // namespace shw
