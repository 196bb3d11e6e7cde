// Reads a JSON file, plain or gzipped.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "support/status.h"

namespace shw::import {

inline constexpr uint64_t kMaxJsonBytes = 2ull << 30;  // uncompressed

// NOT_FOUND: cannot be opened; DATA_LOSS: damaged or truncated gzip; RESOURCE_EXHAUSTED: more than
// `max_bytes` of text; INVALID_ARGUMENT: not JSON, with the position.
Result<nlohmann::json> read_json_file(const std::string& path, uint64_t max_bytes = kMaxJsonBytes);

}  // namespace shw::import
