// Parses JSON from bytes, plain or gzipped.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "import/text_limit.h"
#include "support/status.h"

namespace shw::import {

inline constexpr size_t kMaxJsonNesting = 256;

// A document that can be destroyed when memory is exhausted: nlohmann's own destructor allocates.
class JsonTree {
 public:
  JsonTree() = default;
  explicit JsonTree(nlohmann::json document) : root(std::move(document)) {}
  ~JsonTree() { dismantle(root); }
  JsonTree(JsonTree&&) = default;
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  nlohmann::json root;

 private:
  static void dismantle(nlohmann::json& value);
};

// `what`: a description of the bytes, for messages. DATA_LOSS: damaged or truncated gzip;
// RESOURCE_EXHAUSTED: more than `max_text_bytes` after inflation, or nested too deeply;
// INVALID_ARGUMENT: not JSON; the message has the position.
Result<JsonTree> parse_json_bytes(std::span<const uint8_t> bytes, const std::string& what,
                                  uint64_t max_text_bytes = kDefaultMaxTextBytes);

}  // namespace shw::import
