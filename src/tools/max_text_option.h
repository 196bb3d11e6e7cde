// --max-text, of the verbs that read JSON: how large a file may be after it is inflated.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "support/status.h"

namespace shw::tools {

inline constexpr const char* kDefaultMaxText = "512MiB";  // import::kDefaultMaxTextBytes

void add_max_text(CLI::App& verb, std::string& value);
Result<uint64_t> parse_max_text(const std::string& value);

}  // namespace shw::tools
