// --max-text, of the verbs that read JSON: how large a file may be after it is inflated.
#pragma once
#include <string>

#include "support/status.h"
#include "tools/command_line.h"

namespace shw::tools {

inline constexpr const char* kDefaultMaxText = "512MiB";  // import::kDefaultMaxTextBytes

void add_max_text(Verb& verb, std::string& value);
Result<uint64_t> parse_max_text(const std::string& value);

}  // namespace shw::tools
