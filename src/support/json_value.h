// A small JSON document as a tree: what people write by hand for the library, such as descriptions
// of hardware. Text is not trusted: size and depth are limited, keys that stand twice are refused,
// nothing recurses with the input. Large files of tools are read elsewhere (src/import).
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

// INVALID_ARGUMENT says where the text stops being JSON; RESOURCE_EXHAUSTED: too long or too deep.
Result<JsonValue> parse_json(std::string_view text, size_t max_bytes = kMaxJsonText);

}  // namespace shw
