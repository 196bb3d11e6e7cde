// Reads a JSON file, plain or gzipped. For tests and benchmarks: unlike JsonTree, the result is
// destroyed by nlohmann's destructor.
#pragma once
#include <string>

#include "import/json_bytes.h"

namespace shw::import {

// NOT_FOUND: cannot be opened; otherwise as parse_json_bytes().
Result<nlohmann::json> read_json_file(const std::string& path,
                                      uint64_t max_text_bytes = kDefaultMaxTextBytes);

}  // namespace shw::import
