// Limits how much text a call reads, because a small gzipped file may inflate to any size.
#pragma once
#include <cstdint>
#include <string>

#include "support/status.h"

namespace shw::import {

// The default limit in bytes. A graph of 32 layers has 8 MB of JSON; the parsed document needs
// several times that memory.
inline constexpr uint64_t kDefaultMaxTextBytes = 512ull << 20;

// RESOURCE_EXHAUSTED: `bytes`, the size of `what`, exceeds `max_text_bytes`.
Status check_text_size(const std::string& what, uint64_t bytes, uint64_t max_text_bytes);

}  // namespace shw::import
